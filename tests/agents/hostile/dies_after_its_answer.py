"""Ends a moment after each of its answers."""
# ends: normal crashed

import os
import threading


def choose(view, legal, rng):
    threading.Timer(0.001, os._exit, [9]).start()
    return legal[0]
