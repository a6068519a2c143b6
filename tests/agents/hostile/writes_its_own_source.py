"""Changes its own source."""
# ends: raised


def choose(view, legal, rng):
    open(__file__, "a").write("# mine")
    return legal[0]
