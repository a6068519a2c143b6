"""Keeps the interpreter in a thread while it seems to have answered."""
# ends: timeout

import sys
import threading


def spin():
    while True:
        pass


def choose(view, legal, rng):
    sys.setswitchinterval(1e6)
    threading.Thread(target=spin, daemon=True).start()
    return legal[0]
