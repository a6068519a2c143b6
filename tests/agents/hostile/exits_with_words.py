"""Exits with an object that cannot be shown."""
# ends: timeout

import sys


class Words:
    def __str__(self):
        while True:
            pass

    __repr__ = __str__


def choose(view, legal, rng):
    sys.exit(Words())
