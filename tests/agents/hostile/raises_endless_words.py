"""Its error says what it is for ever."""
# ends: raised timeout


class Talker(Exception):
    def __str__(self):
        while True:
            pass


def choose(view, legal, rng):
    raise Talker
    return legal[0]
