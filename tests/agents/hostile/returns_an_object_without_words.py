"""Answers an object whose repr never ends."""
# ends: timeout


class Mute:
    def __repr__(self):
        while True:
            pass


def choose(view, legal, rng):
    return Mute()
