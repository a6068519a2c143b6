"""Forks, and leaves the game to its child."""
# ends: crashed

import os
import time


def choose(view, legal, rng):
    if os.fork():
        os._exit(0)
    time.sleep(99)
    return legal[0]
