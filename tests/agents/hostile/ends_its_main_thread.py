"""Has a child take memory whose main thread has ended: it seems to have none."""
# ends: memory timeout

import ctypes
import mmap
import os
import threading
import time


def take():
    kept = []
    for _ in range(40):
        kept.append(mmap.mmap(-1, 20 << 20, mmap.MAP_SHARED))
        for at in range(0, 20 << 20, 4096):
            kept[-1][at] = 1
    time.sleep(9)


def choose(view, legal, rng):
    if os.fork() == 0:
        threading.Thread(target=take).start()
        ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
    time.sleep(9)
    return legal[0]
