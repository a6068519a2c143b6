"""Ends its process."""
# ends: crashed

import os


def choose(view, legal, rng):
    os._exit(0)
    return legal[0]
