"""Gives its answers to nobody."""
# ends: crashed

import os


def choose(view, legal, rng):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 4)
    return legal[0]
