"""The six terms of the Othello benchmarks as a user would write them."""

from typing import Any

from agents.features.othello import corner, danger, disc, edge, mobility, potential_mobility
from games.kernels.context import Context
from games.kernels.family import State, turned

WEIGHTS = {
    "disc": 1.0,
    "mobility": 1.0,
    "potential_mobility": 1.0,
    "corner": 1.0,
    "edge": 1.0,
    "danger": 1.0,
}


def ratio(own: Any, other: Any) -> float:
    """Return 100 (a - b) / (|a| + |b|), or 0 when both are 0."""
    total = abs(own) + abs(other)
    return 100.0 * (own - other) / total if total != 0 else 0.0


def evaluate(rules: Context, position: State, weights: Any) -> float:
    """Return the weighted sum of the ratios."""
    other = turned(position)
    value: float = weights.disc * ratio(disc(rules, position), disc(rules, other))
    value += weights.mobility * ratio(mobility(rules, position), mobility(rules, other))
    value += weights.potential_mobility * ratio(
        potential_mobility(rules, position), potential_mobility(rules, other)
    )
    value += weights.corner * ratio(corner(rules, position), corner(rules, other))
    value += weights.edge * ratio(edge(rules, position), edge(rules, other))
    value += weights.danger * ratio(danger(rules, position), danger(rules, other))
    return value
