"""Ends every process that it can."""
# ends: raised crashed normal

import os


def choose(view, legal, rng):
    os.kill(-1, 9)
    return legal[0]
