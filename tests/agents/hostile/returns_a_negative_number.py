"""Answers -1."""
# ends: illegal


def choose(view, legal, rng):
    return -1
