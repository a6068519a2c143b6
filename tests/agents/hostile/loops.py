"""Never answers."""
# ends: timeout


def choose(view, legal, rng):
    while True:
        pass
    return legal[0]
