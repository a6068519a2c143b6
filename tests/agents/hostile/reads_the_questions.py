"""A thread of it reads what it is asked."""
# ends: timeout normal

import os
import threading


def steal():
    while os.read(3, 4096):
        pass


threading.Thread(target=steal, daemon=True).start()


def choose(view, legal, rng):
    return legal[0]
