"""Its error has escape codes."""
# ends: raised


def choose(view, legal, rng):
    raise ValueError("\x1b[2J\x1b]0;mine\x07\x00")
    return legal[0]
