"""Answers after its time."""
# ends: timeout

import time


def choose(view, legal, rng):
    time.sleep(1.4)
    return legal[0]
