"""The names that every family of states defines for kernels; `specialise` binds them.

A family is a module with these functions, compiled inline, over its own `State`,
which is always seen from the side to move. Beside them it has `FAMILY`, its
name for the disk cache, and what `Game` needs to build and read states.
Nothing here is ever called: kernels are written against these names and type-checked by them.
"""

from typing import Any

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context

State = Any  # a named tuple, of a class of each family
Mask = Any  # of legal moves: a word, or several


def moves(ctx: Context, s: State) -> Mask:
    """The legal moves; empty when the mover must pass or the game is over."""
    raise NotImplementedError


def plies(mask: Mask) -> Mask:
    """The moves that count as plies (all but a swap)."""
    raise NotImplementedError


def none(mask: Mask) -> Truth:
    """Whether the mask is empty."""
    raise NotImplementedError


def lowest(mask: Mask) -> np.uint64:
    """The slot of the first move."""
    raise NotImplementedError


def rest(mask: Mask) -> Mask:
    """The mask without its first move."""
    raise NotImplementedError


def nth(mask: Mask, n: np.uint64) -> np.uint64:
    """The slot of move `n` of the mask, from 0."""
    raise NotImplementedError


def highest(mask: Mask) -> np.uint64:
    """The slot of the last move."""
    raise NotImplementedError


def except_highest(mask: Mask) -> Mask:
    """The mask without its last move."""
    raise NotImplementedError


def count(mask: Mask) -> np.int64:
    """The number of moves."""
    raise NotImplementedError


def over(ctx: Context, s: State) -> Truth:
    """Whether a position without moves is the end, not a pass."""
    raise NotImplementedError


def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """The next position as its mover sees it, and whether the same side moves again."""
    raise NotImplementedError


def turned(s: State) -> State:
    """The same board seen by the other side: a pass."""
    raise NotImplementedError


def key(s: State) -> np.uint64:
    """A hash of the state, never 0."""
    raise NotImplementedError


def final(ctx: Context, s: State) -> np.int64:
    """The score of a finished game, the mover's minus the other's."""
    raise NotImplementedError
