"""Is another function after its first move."""
# ends: normal


def choose(view, legal, rng):
    global choose
    choose = None
    return legal[0]
