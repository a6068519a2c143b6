"""Mounts a file system."""
# ends: raised

import ctypes
import os


def choose(view, legal, rng):
    if ctypes.CDLL(None, use_errno=True).mount(b"none", b"/tmp", b"tmpfs", 0, b"") != 0:
        raise PermissionError
    os._exit(9)
    return legal[0]
