"""Its error says what it is for ever."""
# ends: timeout


class Talker(Exception):
    def __str__(self):
        while True:
            pass


def choose(view, legal, rng):
    raise Talker
    return legal[0]
