"""Takes memory piece by piece, and writes it."""
# ends: memory timeout

kept = []


def choose(view, legal, rng):
    while True:
        kept.append(b"x" * (8 << 20))
    return legal[0]
