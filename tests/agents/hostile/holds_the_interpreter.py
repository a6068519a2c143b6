"""Hangs in C, with the interpreter's lock."""
# ends: timeout

import ctypes


def choose(view, legal, rng):
    ctypes.PyDLL(None).pause()
    return legal[0]
