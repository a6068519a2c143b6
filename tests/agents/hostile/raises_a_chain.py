"""Raises an error whose causes go round in a ring, each with words without end."""
# ends: raised memory timeout crashed


class Endless(Exception):
    def __str__(self):
        return "\x1b[31m\u202e" * (1 << 20)


def choose(view, legal, rng):
    first, second = Endless(), Endless()
    first.__cause__, second.__cause__ = second, first
    first.add_note("\x07" * (1 << 20))
    raise first
