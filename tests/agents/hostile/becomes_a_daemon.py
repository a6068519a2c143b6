"""Leaves a daemon behind that ignores every signal."""
# ends: normal flooded raised unreadable

import os
import signal
import time


def choose(view, legal, rng):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (1, 2, 15):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(99)
        os._exit(0)
    return legal[0]
