"""Starts threads as fast as it can."""
# ends: raised

import threading
import time


def choose(view, legal, rng):
    while True:
        threading.Thread(target=time.sleep, args=(99,)).start()
    return legal[0]
