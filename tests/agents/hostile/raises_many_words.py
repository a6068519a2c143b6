"""Its error has fifty million letters."""
# ends: memory timeout


def choose(view, legal, rng):
    raise ValueError("x" * 50_000_000)
    return legal[0]
