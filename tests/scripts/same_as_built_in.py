"""Evaluations by the formulas of the built-in ones, for both packages of games."""

import math

from agents.features import othello, sowing
from agents.features.sowing import capture, extra_turn, far, in_play, mobility, pot
from games.kernels.family import turned

WEIGHTS = {
    "pot": 1.0,
    "in_play": 0.125,
    "extra_turn": 0.7,
    "capture": 0.35,
    "mobility": -0.21,
    "far": 0.05,
}
CONSTANTS = (1.0, 0.125, 0.7, 0.35, -0.21, 0.05)


def sowing_evaluate(rules, position):
    """With constants of the file and helpers."""
    return worth(rules, position) - worth(rules, turned(position))


def worth(rules, position):
    counts = (
        pot(rules, position),
        in_play(rules, position),
        extra_turn(rules, position),
        capture(rules, position),
        mobility(rules, position),
        far(rules, position),
    )
    total = 0.0
    for place, count in enumerate(counts):
        total += CONSTANTS[place] * count
    return total


def weighted_evaluate(rules, position, weights):
    """With weights by name."""
    return weighted_worth(rules, position, weights) - weighted_worth(
        rules, turned(position), weights
    )


def weighted_worth(rules, position, weights):
    return (
        weights.pot * pot(rules, position)
        + weights.in_play * in_play(rules, position)
        + weights.extra_turn * extra_turn(rules, position)
        + weights.capture * capture(rules, position)
        + weights.mobility * mobility(rules, position)
        + weights.far * far(rules, position)
    )


def by_module(rules, position):
    """With features named by their module, and a list."""
    them = turned(position)
    differences = [
        feature - other
        for feature, other in (
            (sowing.pot(rules, position), sowing.pot(rules, them)),
            (sowing.in_play(rules, position), sowing.in_play(rules, them)),
        )
    ]
    return 2 * differences[0] + differences[1]


def othello_evaluate(rules, position):
    """The six terms, each once."""
    them = turned(position)
    return (
        ratio(othello.disc(rules, position), othello.disc(rules, them))
        + ratio(othello.mobility(rules, position), othello.mobility(rules, them))
        + ratio(
            othello.potential_mobility(rules, position), othello.potential_mobility(rules, them)
        )
        + ratio(othello.corner(rules, position), othello.corner(rules, them))
        + ratio(othello.edge(rules, position), othello.edge(rules, them))
        + ratio(othello.danger(rules, position), othello.danger(rules, them))
    )


def ratio(a, b):
    total = math.fabs(a) + math.fabs(b)
    return 100.0 * (a - b) / total if total > 0 else 0.0
