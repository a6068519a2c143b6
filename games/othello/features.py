"""Numbers about an Othello position that evaluations weigh, each counted for the side to move.

A feature is a function of the rules and a position; the search weighs the ratio of both sides'
counts. The set operations imported here are those of the bitboard; kernels of other families
bind theirs instead.
"""

import numpy as np

from games.kernels.bits import ONE
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


def vacant(rules: Context, position: State) -> Mask:
    """Return the empty squares."""
    return without(squares(rules, BOARD), either(position.own, position.other))


def beside(area: Mask) -> Mask:
    """Return the squares left and right of `area`, including some outside the board."""
    return either(shift_up(area, ONE), shift_down(area, ONE))


def above_below(area: Mask) -> Mask:
    """Return the squares above and below `area`."""
    return either(shift_up(area, ROW_STEP), shift_down(area, ROW_STEP))


def around(rules: Context, area: Mask) -> Mask:
    """Return the squares of the board with one of their eight neighbours in `area`."""
    inner = without(area, squares(rules, COLUMNS))
    column = both(area, squares(rules, COLUMNS))
    # A border column must not wrap around: its left and right neighbours are inside the board.
    sides = both(beside(column), without(squares(rules, BOARD), squares(rules, COLUMNS)))
    wide = either(either(beside(inner), sides), area)
    return both(either(wide, above_below(wide)), squares(rules, BOARD))


def disc(rules: Context, position: State) -> np.int64:
    """Discs of the mover."""
    return bits(position.own)


def mobility(rules: Context, position: State) -> np.int64:
    """Legal moves of the mover."""
    return np.int64(count(moves(rules, position)))


def potential_mobility(rules: Context, position: State) -> np.int64:
    """Empty squares next to an opponent's disc, each counted once."""
    return bits(both(around(rules, position.other), vacant(rules, position)))


def corner(rules: Context, position: State) -> np.int64:
    """Corners with a disc of the mover."""
    return bits(both(position.own, squares(rules, CORNERS)))


def corner_chain(own: Mask, line: Mask, by: Mask, corners: Mask) -> Mask:
    """Return the own discs on `line` that own discs connect to an own corner in steps of `by`."""
    own_line = both(own, line)
    run = both(own_line, corners)
    grown = run
    while not empty(grown):
        grown = without(both(either(shift_up(grown, by), shift_down(grown, by)), own_line), run)
        run = either(run, grown)
    return run


def edge(rules: Context, position: State) -> np.int64:
    """Border discs but corners: +1 linked to an own corner, -3 next to an empty one, else -1."""
    rows, columns = squares(rules, ROWS), squares(rules, COLUMNS)
    corners = squares(rules, CORNERS)
    own = position.own
    stable = either(
        corner_chain(own, rows, ONE, corners), corner_chain(own, columns, ROW_STEP, corners)
    )
    border = without(both(own, either(rows, columns)), corners)
    loose = without(border, stable)
    open_corners = without(corners, either(own, position.other))
    exposed = either(both(rows, beside(open_corners)), both(columns, above_below(open_corners)))
    return bits(border) - 2 * bits(loose) - 2 * bits(both(loose, exposed))


def danger(rules: Context, position: State) -> np.int64:
    """-2 for each disc diagonally next to an empty corner."""
    open_corners = without(squares(rules, CORNERS), either(position.own, position.other))
    border = either(squares(rules, ROWS), squares(rules, COLUMNS))
    near = above_below(beside(open_corners))
    inside = without(both(near, squares(rules, BOARD)), border)
    return -2 * bits(both(inside, position.own))


HELPERS = (vacant, beside, above_below, around, corner_chain)
TERM = "ratio"


def progress(rules: Context, position: State, phases: int) -> int:
    """Return the phase of the game, from 0 to `phases` - 1, by the number of discs."""
    discs = bits(position.own) + bits(position.other)
    return (discs * phases) // (rules[RULES + CELLS] + 1)
