"""Ends its parent."""
# ends: raised crashed

import os
import time


def choose(view, legal, rng):
    os.kill(os.getppid(), 9)
    time.sleep(0.2)
    return legal[0]
