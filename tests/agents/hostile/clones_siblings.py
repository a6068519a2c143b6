"""Clones processes that are no children of its own."""
# ends: raised

import ctypes
import os
import time

PARENT, CHILD_ENDS = 0x8000, 17


def choose(view, legal, rng):
    number = {"x86_64": 56}.get(os.uname().machine, 220)
    process = ctypes.CDLL(None).syscall(number, PARENT | CHILD_ENDS, 0, 0, 0, 0)
    if process < 0:
        raise PermissionError
    if process == 0:
        while True:
            time.sleep(1)
    return legal[0]
