"""Leaves eight processes that keep the cores busy while others think."""
# ends: normal flooded timeout

import os


def choose(view, legal, rng):
    for _ in range(8):
        if os.fork() == 0:
            while True:
                pass
    return legal[0]
