"""The names of move knowledge that search kernels use, beside those of the family.

Nothing here is ever called: kernels are written against these names and bound by `bind`.
"""

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context
from games.kernels.family import Mask, State

SORTED_FROM = 0  # the depth from which moves are sorted by urgency
FINISH_FROM = 0  # beans or empties from which an exact search needs no table


def evaluate(ctx: Context, s: State) -> np.int64:
    """The score of a position for its mover."""
    raise NotImplementedError


def remaining(ctx: Context, s: State) -> np.int64:
    """Beans in the rows or empty squares."""
    raise NotImplementedError


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """What the move from `s` to `child` is worth to the greedy agent."""
    raise NotImplementedError


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """How early to search the move from `s` to `child`; more is earlier."""
    raise NotImplementedError


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """The moves to search before the others."""
    raise NotImplementedError


def others(mask: Mask, first: Mask) -> Mask:
    """The moves of the mask that are not among the `first`."""
    raise NotImplementedError


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """Beans in the hole that the move sows."""
    raise NotImplementedError
