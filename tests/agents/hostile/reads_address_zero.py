"""Reads from address 0."""
# ends: crashed

import ctypes


def choose(view, legal, rng):
    ctypes.string_at(0)
    return legal[0]
