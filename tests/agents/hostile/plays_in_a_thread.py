"""Has a thread that never ends."""
# ends: normal

import threading


def spin():
    while True:
        pass


threading.Thread(target=spin, daemon=True).start()


def choose(view, legal, rng):
    return legal[0]
