"""What an Othello move is worth at first sight: for the greedy agent and for move ordering."""

from typing import Any

import numpy as np

from agents.features.word_squares import bits, both, either, empty, squares, without
from games.bits import Truth
from games.context import RULES, Context
from games.family import State, count, moves
from games.othello.layout import CELLS, COLUMNS, CORNERS, ROWS

SORTED_FROM = 3  # counting the replies pays from this depth on
FINISH_FROM = 5
TIES_BY_SIDE = 0  # squares read the same way for both sides


def remaining(ctx: Context, s: State) -> np.int64:
    """Empty squares."""
    return ctx[RULES + CELLS] - bits(either(s.own, s.other))


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Four times the discs flipped; a corner counts two more, another border square one."""
    disc = without(child.other, either(s.own, s.other))
    border = either(squares(ctx, ROWS), squares(ctx, COLUMNS))
    flips = bits(child.other) - bits(s.own) - 1
    place = 0 if empty(both(disc, border)) else 1
    return 4 * flips + (place if empty(both(disc, squares(ctx, CORNERS))) else 2)


def urgency(ctx: Context, s: State, child: State) -> np.int64:
    """Few replies first, corners before that."""
    corner = without(both(child.other, squares(ctx, CORNERS)), s.own)
    return (0 if empty(corner) else 40) - 8 * np.int64(count(moves(ctx, child)))


def promising(ctx: Context, s: State, mask: Any) -> Any:
    """The moves to try first: corners."""
    return both(mask, squares(ctx, CORNERS))


def others(mask: Any, first: Any) -> Any:
    """The moves of the mask that are not among the `first`."""
    return without(mask, first)


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """Sowing games only: there are no beans here."""
    return np.int64(0)
