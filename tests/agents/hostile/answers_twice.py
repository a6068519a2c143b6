"""Has a child that answers as well."""
# ends: normal unreadable illegal flooded timeout crashed

import os


def choose(view, legal, rng):
    os.fork()
    return legal[0]
