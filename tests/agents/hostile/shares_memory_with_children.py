"""Takes memory that is no process's own: its children have it, too, until one of them writes."""
# ends: memory flooded

import ctypes
import mmap
import os
import time

kept = []


def choose(view, legal, rng):
    for _ in range(8):
        kept.append(mmap.mmap(-1, 50 << 20, mmap.MAP_PRIVATE))
        for at in range(0, 50 << 20, 4096):
            kept[-1][at] = 1
        # What can only be read is no data, which has a limit.
        start = ctypes.addressof(ctypes.c_char.from_buffer(kept[-1]))
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(start), ctypes.c_size_t(50 << 20), 1)
        if os.fork() == 0:
            time.sleep(9)
            os._exit(0)
    time.sleep(9)
    return legal[0]
