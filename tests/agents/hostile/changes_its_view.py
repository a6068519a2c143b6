"""Writes into what it is shown."""
# ends: normal


def choose(view, legal, rng):
    view._words = [0] * len(view._words)
    return legal[0]
