"""Names for move ordering that kernels use, with defaults for games that define none.

Kernels are written against these names, and `bind` replaces them with those of the game.
"""

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context
from games.kernels.family import Mask, State, none, rest

SORTED_FROM = 1 << 30  # the depth from which moves are sorted by urgency; never by default
FINISH_FROM = -1  # units left at which an exact search needs no table
TIES_BY_SIDE = 0
CHILD_POINTS = 0  # urgency per point of a child's value by learned tables
MANY = 1 << 30  # more units than any endgame threshold


def evaluate(ctx: Context, s: State) -> np.int64:
    """Return the score of a position for its mover; bound for every family."""
    raise NotImplementedError


def remaining(ctx: Context, s: State) -> np.int64:
    """Return the beans in the rows or the empty squares; the default reaches no endgame."""
    return np.int64(MANY)


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Return the value of the move from `s` to `child` for the greedy agent."""
    return np.int64(0)


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Return the priority of the move from `s` to `child`; higher ones are searched earlier."""
    return np.int64(0)


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """Return the moves to search before the others; by default all."""
    return mask


def others(mask: Mask, first: Mask) -> Mask:
    """Return the moves of the mask that are not in `first`; by default none."""
    while not none(first):
        first = rest(first)
    return first


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """Return the beans in the hole that the move sows."""
    return np.int64(0)


def progress(rules: Context, position: State, phases: int) -> int:
    """Return the phase of the game; by default the whole game is one phase."""
    return 0
