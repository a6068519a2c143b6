"""Takes memory that outlives its process."""
# ends: raised

import ctypes


def choose(view, legal, rng):
    number = ctypes.CDLL(None, use_errno=True).shmget(0, 1 << 20, 0o1777)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return legal[0]
