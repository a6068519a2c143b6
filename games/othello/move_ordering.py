"""Quick estimates of moves, for greedy and for the move order of a search."""

import numpy as np

from games.kernels.bits import ONE, Truth
from games.kernels.context import RULES, Context
from games.kernels.family import Mask, State, count, moves
from games.othello.bitboard import (
    ROW_STEP,
    bits,
    both,
    either,
    empty,
    shift_down,
    shift_up,
    squares,
    without,
)
from games.othello.rules import BOARD, CELLS, COLUMNS, CORNERS, ROWS

SORTED_FROM = 2
FINISH_FROM = 5
TIES_BY_SIDE = 0  # squares have the same order for both sides
CHILD_POINTS = 6  # urgency per disc of a child's value, where learned tables estimate it


def remaining(ctx: Context, s: State) -> np.int64:
    """Return the number of empty squares."""
    return ctx[RULES + CELLS] - bits(either(s.own, s.other))


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Return four times the flipped discs, plus two for a corner, one for another border square."""
    disc = without(child.other, either(s.own, s.other))
    border = either(squares(ctx, ROWS), squares(ctx, COLUMNS))
    flips = bits(child.other) - bits(s.own) - 1
    place = 0 if empty(both(disc, border)) else 1
    return 4 * flips + (place if empty(both(disc, squares(ctx, CORNERS))) else 2)


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Rank moves by few replies and few discs of the opponent; replies in corners count twice."""
    corners = squares(ctx, CORNERS)
    replies = moves(ctx, child)
    cost = 8 * (np.int64(count(replies)) + bits(both(replies, corners))) + bits(child.other)
    return (0 if empty(without(both(child.other, corners), s.own)) else 4) - cost


def promising(ctx: Context, s: State, mask: Mask) -> Mask:
    """Return the moves to try first: corners, and squares without empty neighbours.

    Filling a single empty square leaves an even number elsewhere, so the same side moves last.
    """
    rim, board = squares(ctx, COLUMNS), squares(ctx, BOARD)
    empties = without(board, either(s.own, s.other))
    inner, outer = without(empties, rim), both(empties, rim)
    # A border column must not wrap around: its left and right neighbours are inside the board.
    beside = either(shift_up(outer, ONE), shift_down(outer, ONE))
    beside = either(without(beside, rim), either(shift_up(inner, ONE), shift_down(inner, ONE)))
    three = either(beside, empties)
    near = either(beside, either(shift_up(three, ROW_STEP), shift_down(three, ROW_STEP)))
    return both(mask, either(squares(ctx, CORNERS), without(board, near)))


def others(mask: Mask, first: Mask) -> Mask:
    """Return the moves of the mask that are not in `first`."""
    return without(mask, first)
