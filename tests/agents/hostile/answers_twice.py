"""Has a child that answers as well."""
# ends: unreadable normal

import os


def choose(view, legal, rng):
    os.fork()
    return legal[0]
