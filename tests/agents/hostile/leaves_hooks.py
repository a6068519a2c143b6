"""Leaves a trace function, hooks and callbacks."""
# ends: normal

import atexit
import sys
import time


def choose(view, legal, rng):
    sys.settrace(lambda *_: None)
    sys.excepthook = sys.unraisablehook = lambda *_: None
    atexit.register(time.sleep, 99)
    return legal[0]
