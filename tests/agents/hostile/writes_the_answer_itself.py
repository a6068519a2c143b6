"""Writes into every descriptor it can guess."""
# ends: unreadable

import os


def choose(view, legal, rng):
    for each in range(3, 64):
        try:
            os.write(each, b"\x04\xff\xff\x7f" * 9)
        except OSError:
            pass
    return legal[0]
