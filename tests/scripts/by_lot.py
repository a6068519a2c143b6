"""A bot that plays by lot, from the generator that it is given."""


def choose(view, legal, rng):
    return rng.choice(legal)
