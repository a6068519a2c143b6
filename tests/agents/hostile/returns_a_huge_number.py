"""Answers ten to the ten thousandth."""
# ends: illegal


def choose(view, legal, rng):
    return 10**10_000
