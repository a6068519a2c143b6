"""Sleeps when it is ended."""
# ends: normal

import atexit
import time


class Heavy:
    def __del__(self):
        time.sleep(99)


heavy = Heavy()
atexit.register(time.sleep, 99)


def choose(view, legal, rng):
    return legal[0]
