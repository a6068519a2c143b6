"""Its error cannot say what it is."""
# ends: raised


class Silent(Exception):
    def __str__(self):
        raise self


def choose(view, legal, rng):
    raise Silent
    return legal[0]
