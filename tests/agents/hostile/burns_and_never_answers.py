"""Keeps the cores busy by ten processes of its own, and never answers."""
# ends: timeout

import os
import time


def choose(view, legal, rng):
    for _ in range(10):
        if os.fork() == 0:
            while True:
                pass
    time.sleep(99)
