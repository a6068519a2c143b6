"""Writes half an answer and waits."""
# ends: unreadable

import os
import time


def choose(view, legal, rng):
    os.write(4, b"\x04")
    time.sleep(99)
    return legal[0]
