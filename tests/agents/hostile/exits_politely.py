"""Calls sys.exit."""
# ends: crashed

import sys


def choose(view, legal, rng):
    sys.exit(3)
    return legal[0]
