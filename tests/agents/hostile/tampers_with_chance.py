"""Breaks the generator that it is given."""
# ends: normal


def choose(view, legal, rng):
    rng.random = rng.choice = rng.seed = None
    move = legal[0]
    del rng.random, rng.choice, rng.seed
    rng.setstate((3, (0,) * 625, None))
    type(rng).random = None
    return move
