"""Answers 1.0."""
# ends: illegal


def choose(view, legal, rng):
    return float(legal[0])
