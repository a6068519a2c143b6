"""Answers fifty million letters."""
# ends: unreadable


def choose(view, legal, rng):
    return "x" * 50_000_000
