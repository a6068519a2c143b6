"""The linear heuristic of the Kalah benchmarks as a user would write it."""

from typing import Any

from agents.features.sowing import in_play, pot
from games.kernels.context import Context
from games.kernels.family import State, turned

WEIGHTS = {"pot": 2.0, "in_play": 1.0}


def evaluate(rules: Context, position: State, weights: Any) -> float:
    """Return twice the banked beans plus those in play, the mover's minus the other's."""
    other = turned(position)
    banked = pot(rules, position) - pot(rules, other)
    playable = in_play(rules, position) - in_play(rules, other)
    value: float = weights.pot * banked + weights.in_play * playable
    return value
