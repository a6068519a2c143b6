"""Leaves a child at every move."""
# ends: normal flooded

import os
import time


def choose(view, legal, rng):
    if os.fork() == 0:
        time.sleep(99)
        os._exit(0)
    return legal[0]
