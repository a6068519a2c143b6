"""The move knowledge of a game whose pack has none: all moves look alike."""

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context
from games.kernels.family import Mask, State, none, rest

SORTED_FROM = 1 << 30  # never
FINISH_FROM = -1
TIES_BY_SIDE = 0
CHILD_POINTS = 0  # what a point of a child's value by learned tables adds to urgency
MUCH = 1 << 30  # more than any endgame begins with


def remaining(ctx: Context, s: State) -> np.int64:
    """How much is left is not known: no endgame begins."""
    return np.int64(MUCH)


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """No move gains anything."""
    return np.int64(0)


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """No move is urgent."""
    return np.int64(0)


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """All moves are equally promising."""
    return mask


def others(mask: Mask, first: Mask) -> Mask:
    """An empty mask: all moves are promising."""
    while not none(first):
        first = rest(first)
    return first


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """There are no holes."""
    return np.int64(0)


def progress(rules: Context, position: State, phases: int) -> int:
    """The whole game is one phase."""
    return 0
