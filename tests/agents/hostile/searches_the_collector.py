"""Looks for the other agent among all objects there are."""
# ends: normal

import gc
import os


def choose(view, legal, rng):
    for each in gc.get_objects():
        if type(each).__name__ in ("DrawnPlan", "Worker", "SandboxedAgent", "RunDirectory"):
            os._exit(1)
    return legal[0]
