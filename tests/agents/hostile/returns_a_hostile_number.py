"""Answers an int that ends the process when it is compared."""
# ends: normal

import os


class Number(int):
    def __eq__(self, other):
        os._exit(5)

    def __hash__(self):
        os._exit(6)

    def __index__(self):
        os._exit(7)


def choose(view, legal, rng):
    return Number(legal[0])
