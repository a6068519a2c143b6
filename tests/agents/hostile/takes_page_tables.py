"""Looks at a terabyte that it never writes: only the kernel needs memory for that."""
# ends: memory

import ctypes

SIZE, STEP, READ, PRIVATE = 1 << 40, 1 << 21, 1, 0x4022
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]


def choose(view, legal, rng):
    start = libc.mmap(None, SIZE, READ, PRIVATE, -1, 0)
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(SIZE), 15)  # no huge pages
    while True:
        for at in range(0, SIZE, STEP):
            ctypes.string_at(start + at, 1)
