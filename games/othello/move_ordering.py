"""Quick estimates of moves for greedy and for ordering a search."""

import numpy as np

from games.kernels.bits import ONE, Truth
from games.kernels.context import RULES, Context
from games.kernels.family import Mask, State, count, moves
from games.othello.rules import BOARD, CELLS, COLUMNS, CORNERS, ROWS
from games.othello.word_squares import (
    ROW_STEP,
    bits,
    both,
    either,
    empty,
    lowered,
    raised,
    squares,
    without,
)

SORTED_FROM = 2
FINISH_FROM = 5
TIES_BY_SIDE = 0  # squares read the same way for both sides
CHILD_POINTS = 6  # what a disc of a child's value by learned tables adds to urgency


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


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Few replies and few discs first; replies in corners count twice."""
    corners = squares(ctx, CORNERS)
    replies = moves(ctx, child)
    cost = 8 * (np.int64(count(replies)) + bits(both(replies, corners))) + bits(child.other)
    return (0 if empty(without(both(child.other, corners), s.own)) else 4) - cost


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """The moves to try first: corners, and squares whose neighbours are all taken.

    Whoever fills a lone square leaves an even number elsewhere, and so moves last.
    """
    rim, board = squares(ctx, COLUMNS), squares(ctx, BOARD)
    empties = without(board, either(s.own, s.other))
    inner, outer = without(empties, rim), both(empties, rim)
    # A border column must not reach round the board: its neighbours beside it lie inside.
    beside = either(raised(outer, ONE), lowered(outer, ONE))
    beside = either(without(beside, rim), either(raised(inner, ONE), lowered(inner, ONE)))
    three = either(beside, empties)
    near = either(beside, either(raised(three, ROW_STEP), lowered(three, ROW_STEP)))
    return both(mask, either(squares(ctx, CORNERS), without(board, near)))


def others(mask: Mask, first: Mask) -> Mask:
    """The moves of the mask that are not among the `first`."""
    return without(mask, first)
