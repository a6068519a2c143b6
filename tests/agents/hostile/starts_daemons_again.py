"""Has daemons that keep the cores busy, and others that start them again."""
# ends: normal flooded timeout

import os
import time


def burn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def choose(view, legal, rng):
    if os.fork() == 0:
        while True:
            if os.fork() == 0:
                if os.fork() == 0:
                    burn(0.3)
                os._exit(0)
            os.wait()
            time.sleep(0.05)
    return legal[0]
