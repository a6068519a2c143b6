"""Answers True."""
# ends: illegal


def choose(view, legal, rng):
    return True
