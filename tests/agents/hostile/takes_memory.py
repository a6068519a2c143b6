"""Takes all memory."""
# ends: memory

kept = []


def choose(view, legal, rng):
    kept.append(bytearray(4 << 30))
    return legal[0]
