"""Opens files until there are no descriptors left."""
# ends: raised

kept = []


def choose(view, legal, rng):
    while True:
        kept.append(open(__file__))
    return legal[0]
