"""Sends itself SIGSTOP."""
# ends: timeout

import os
import signal


def choose(view, legal, rng):
    os.kill(os.getpid(), signal.SIGSTOP)
    return legal[0]
