"""Raises KeyboardInterrupt."""
# ends: raised


def choose(view, legal, rng):
    raise KeyboardInterrupt
    return legal[0]
