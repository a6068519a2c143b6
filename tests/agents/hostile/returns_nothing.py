"""Answers None."""
# ends: illegal


def choose(view, legal, rng):
    return None
