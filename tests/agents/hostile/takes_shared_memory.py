"""Takes memory that no limit of a process counts."""
# ends: memory timeout

import mmap

kept = []


def choose(view, legal, rng):
    while True:
        each = mmap.mmap(-1, 32 << 20)
        each[:] = b"x" * len(each)
        kept.append(each)
    return legal[0]
