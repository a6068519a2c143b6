"""Raises a subclass of SystemExit."""
# ends: raised


class Leave(SystemExit):
    pass


def choose(view, legal, rng):
    raise Leave
    return legal[0]
