"""Closes all descriptors."""
# ends: crashed

import os
import time


def choose(view, legal, rng):
    os.closerange(0, 256)
    time.sleep(9)
    return legal[0]
