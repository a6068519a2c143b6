"""Stops every process that it may."""
# ends: raised normal

import os
import signal


def choose(view, legal, rng):
    os.kill(-1, signal.SIGSTOP)
    return legal[0]
