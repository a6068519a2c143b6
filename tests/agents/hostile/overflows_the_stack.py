"""Recurses without end."""
# ends: raised crashed


def choose(view, legal, rng):
    return choose(view, legal, rng)
