"""Attaches to whoever asks it."""
# ends: raised

import ctypes
import os

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    if ctypes.CDLL(None, use_errno=True).ptrace(16, OWNER, 0, 0) != -1:
        os._exit(9)
    raise PermissionError
    return legal[0]
