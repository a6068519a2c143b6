"""Calls abort."""
# ends: crashed

import os


def choose(view, legal, rng):
    os.abort()
    return legal[0]
