"""Waits for its own lock."""
# ends: timeout

import threading

lock = threading.Lock()


def choose(view, legal, rng):
    lock.acquire()
    lock.acquire()
    return legal[0]
