"""A heuristic of one's own: plain Python, compiled into the search."""

from agents.features.sowing import extra_turn, in_play, pot, turned

# Weights of one's own, by name; an experiment may change them: weights = { extra_turn = 1.0 }.
WEIGHTS = {"pot": 2.0, "in_play": 1.0, "extra_turn": 0.5}


def worth(rules, position, weights):
    """What the side to move has."""
    beans = weights.pot * pot(rules, position) + weights.in_play * in_play(rules, position)
    return beans + weights.extra_turn * extra_turn(rules, position)


def evaluate(rules, position, weights):
    """Mine minus theirs, in any unit: more is better for the side to move."""
    return worth(rules, position, weights) - worth(rules, turned(position), weights)
