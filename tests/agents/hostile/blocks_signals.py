"""Blocks all signals, then hangs."""
# ends: timeout

import signal
import time


def choose(view, legal, rng):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(1)
    return legal[0]
