"""Gives itself a name that looks like what the kernel says of a process, and takes memory."""
# ends: memory

import ctypes
import mmap
import time


def choose(view, legal, rng):
    ctypes.CDLL(None).prctl(15, b") R 1 1\nVmPTE", 0, 0, 0)
    kept = []
    for _ in range(30):
        kept.append(mmap.mmap(-1, 10 << 20, mmap.MAP_SHARED))
        for at in range(0, 10 << 20, 4096):
            kept[-1][at] = 1
    time.sleep(9)
    return legal[0]
