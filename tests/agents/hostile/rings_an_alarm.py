"""Sets an alarm and waits for it."""
# ends: timeout

import signal
import time


def choose(view, legal, rng):
    signal.alarm(1)
    time.sleep(9)
    return legal[0]
