"""Ends its parent."""
# ends: crashed normal raised

import os
import time


def choose(view, legal, rng):
    os.kill(os.getppid(), 9)
    time.sleep(0.2)
    return legal[0]
