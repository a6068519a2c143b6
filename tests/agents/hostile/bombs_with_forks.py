"""Forks as fast as it can."""
# ends: flooded raised timeout

import os


def choose(view, legal, rng):
    while True:
        os.fork()
    return legal[0]
