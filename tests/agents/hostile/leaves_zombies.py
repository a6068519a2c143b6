"""Starts processes that end at once, and never waits for them."""
# ends: normal flooded

import os


def choose(view, legal, rng):
    for _ in range(5):
        if os.fork() == 0:
            os._exit(0)
    return legal[0]
