"""Prints as long as it can."""
# ends: flooded timeout

import os


def choose(view, legal, rng):
    while True:
        os.write(2, b"x" * 65536)
    return legal[0]
