"""An evaluation in plain Python, which Pitflip compiles into its search."""

from agents.features.sowing import extra_turn, in_play, pot, turned

# An experiment may change these weights: weights = { extra_turn = 1.0 }.
WEIGHTS = {"pot": 2.0, "in_play": 1.0, "extra_turn": 0.5}


def worth(rules, position, weights):
    """Return the value of the beans of the side to move."""
    beans = weights.pot * pot(rules, position) + weights.in_play * in_play(rules, position)
    return beans + weights.extra_turn * extra_turn(rules, position)


def evaluate(rules, position, weights):
    """Return how good the position is for the side to move, in any unit."""
    return worth(rules, position, weights) - worth(rules, turned(position), weights)
