"""Sleeps."""
# ends: timeout

import time


def choose(view, legal, rng):
    time.sleep(1e9)
    return legal[0]
