"""Named numbers about an Othello position, each counted for the side to move.

A feature is a function of the rules and a position; the search weighs the ratio
of both sides' counts. The set operations belong to the family of the state
(`word_squares.py`, `wide_squares.py`) and are bound when kernels are made.
"""

import numpy as np

from games.kernels.bits import ONE
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


def vacant(rules: Context, position: State) -> Mask:
    """The empty squares."""
    return without(squares(rules, BOARD), either(position.own, position.other))


def beside(area: Mask) -> Mask:
    """The squares left and right of `area`; off-board ones too."""
    return either(raised(area, ONE), lowered(area, ONE))


def above_below(area: Mask) -> Mask:
    """The squares above and below `area`."""
    return either(raised(area, ROW_STEP), lowered(area, ROW_STEP))


def around(rules: Context, area: Mask) -> Mask:
    """The squares of the board with one of their eight neighbours in `area`."""
    inner = without(area, squares(rules, COLUMNS))
    column = both(area, squares(rules, COLUMNS))
    # A border column must not reach round the board: its neighbours beside it lie inside.
    sides = both(beside(column), without(squares(rules, BOARD), squares(rules, COLUMNS)))
    wide = either(either(beside(inner), sides), area)
    return both(either(wide, above_below(wide)), squares(rules, BOARD))


def disc(rules: Context, position: State) -> np.int64:
    """Discs of the mover."""
    return bits(position.own)


def mobility(rules: Context, position: State) -> np.int64:
    """Moves that the side would have now."""
    return np.int64(count(moves(rules, position)))


def potential_mobility(rules: Context, position: State) -> np.int64:
    """Empty squares next to a disc of the other side, each once."""
    return bits(both(around(rules, position.other), vacant(rules, position)))


def corner(rules: Context, position: State) -> np.int64:
    """Corners held."""
    return bits(both(position.own, squares(rules, CORNERS)))


def joined(own: Mask, line: Mask, by: Mask, corners: Mask) -> Mask:
    """The own discs on `line` joined by own discs to an own corner, along steps of `by`."""
    own_line = both(own, line)
    run = both(own_line, corners)
    grown = run
    while not empty(grown):
        grown = without(both(either(raised(grown, by), lowered(grown, by)), own_line), run)
        run = either(run, grown)
    return run


def edge(rules: Context, position: State) -> np.int64:
    """Border discs, no corners: +1 joined to an own corner, -3 beside an empty one, else -1."""
    rows, columns = squares(rules, ROWS), squares(rules, COLUMNS)
    corners = squares(rules, CORNERS)
    own = position.own
    stable = either(joined(own, rows, ONE, corners), joined(own, columns, ROW_STEP, corners))
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


HELPERS = (vacant, beside, above_below, around, joined)
TERM = "ratio"


def progress(rules: Context, position: State, phases: int) -> int:
    """The phase of the game, from 0 to `phases` - 1, by the discs on the board."""
    discs = bits(position.own) + bits(position.other)
    return (discs * phases) // (rules[RULES + CELLS] + 1)
