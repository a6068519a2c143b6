"""Warns about everything, with control characters, and makes warnings errors."""
# ends: raised normal

import warnings


def choose(view, legal, rng):
    for number in range(1000):
        warnings.warn(f"\x1b[2J mine {number}")
    warnings.simplefilter("error")
    return legal[0]
