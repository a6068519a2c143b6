"""Recurses without end where nobody counts."""
# ends: crashed raised timeout memory

import sys


def choose(view, legal, rng):
    sys.setrecursionlimit(1 << 30)
    return choose(view, legal, rng)
