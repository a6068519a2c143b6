"""Its error has fifty million letters."""
# ends: raised memory


def choose(view, legal, rng):
    raise ValueError("x" * 50_000_000)
    return legal[0]
