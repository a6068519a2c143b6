"""Recurses without end."""
# ends: raised


def choose(view, legal, rng):
    return choose(view, legal, rng)
