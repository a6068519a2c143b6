"""Functions that users call in evaluations and bots."""

import numpy as np

from games.kernels.bits import ONE, U
from games.kernels.context import RULES, Context
from games.kernels.family import Mask, State, moves, play
from games.othello.bitboard import (
    ROW_STEP,
    bits,
    both,
    either,
    empty,
    one_square,
    shift_down,
    shift_up,
    squares,
    without,
)
from games.othello.features import around, vacant
from games.othello.rules import BOARD, CELLS, COLUMNS
from games.parts import PrintedNumber

A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P = range(1, 17)  # noqa: E741  # letters of columns
AXES = 4  # along rows, columns, both diagonals


def size(rules: Context, position: State) -> np.int64:
    """Number of rows and columns."""
    side = np.int64(4)
    while side * side < rules[RULES + CELLS]:
        side += 2
    return side


def slot_at(rules: Context, position: State, n: int) -> np.uint64:
    """Return the slot of square `n`."""
    if n < 0 or n >= rules[RULES + CELLS]:
        raise IndexError("the board has no square with this number")
    side = size(rules, position)
    return U(np.int64(n) // side) * ROW_STEP + U(np.int64(n) % side)


def last_column(rules: Context, position: State) -> Mask:
    """Return the squares of the last column."""
    columns = squares(rules, COLUMNS)
    return both(columns, shift_up(columns, U(size(rules, position) - 1)))


def forward(rules: Context, position: State, area: Mask, axis: int) -> Mask:
    """Return the squares one step after `area` on an axis: right, down, or diagonally down."""
    last = last_column(rules, position)
    first = without(squares(rules, COLUMNS), last)
    if axis == 0:
        moved = shift_up(without(area, last), ONE)
    elif axis == 1:
        moved = shift_up(area, ROW_STEP)
    elif axis == 2:
        moved = shift_up(without(area, last), ROW_STEP + ONE)
    else:
        moved = shift_up(without(area, first), ROW_STEP - ONE)
    return both(moved, squares(rules, BOARD))


def back(rules: Context, position: State, area: Mask, axis: int) -> Mask:
    """Return the squares one step before `area` on an axis."""
    last = last_column(rules, position)
    first = without(squares(rules, COLUMNS), last)
    if axis == 0:
        moved = shift_down(without(area, first), ONE)
    elif axis == 1:
        moved = shift_down(area, ROW_STEP)
    elif axis == 2:
        moved = shift_down(without(area, first), ROW_STEP + ONE)
    else:
        moved = shift_down(without(area, last), ROW_STEP - ONE)
    return both(moved, squares(rules, BOARD))


def safe_on_axis(rules: Context, position: State, safe: Mask, axis: int) -> Mask:
    """Return the squares that no run on the axis can bracket: full lines, or one end is safe."""
    board = squares(rules, BOARD)
    open_lines = vacant(rules, position)
    for _ in range(size(rules, position) - 1):
        ahead = forward(rules, position, open_lines, axis)
        behind = back(rules, position, open_lines, axis)
        open_lines = either(open_lines, either(ahead, behind))
    unsafe = without(board, safe)
    before = without(board, back(rules, position, unsafe, axis))
    after = without(board, forward(rules, position, unsafe, axis))
    return either(without(board, open_lines), either(before, after))


def stable_discs(rules: Context, position: State) -> Mask:
    """Return the mover's discs that are safe on all four axes, so that no move can flip them."""
    safe = without(position.own, position.own)
    growing = True
    while growing:
        grown = position.own
        for axis in range(AXES):
            grown = both(grown, safe_on_axis(rules, position, safe, axis))
        growing = not empty(without(grown, safe))
        safe = grown
    return safe


def square(rules: Context, position: State, column: int, row: int) -> PrintedNumber:
    """The number of a square: `column` A to P or from 1, `row` from 1."""
    side = size(rules, position)
    if column < 1 or column > side or row < 1 or row > side:
        raise IndexError("the board has no such column or row")
    return int((row - 1) * side + column - 1)


def disc_at(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """The content of square `n`: 1 a disc of the mover, -1 one of the opponent, 0 empty."""
    place = one_square(slot_at(rules, position, n))
    return bits(both(place, position.own)) - bits(both(place, position.other))


def flipped(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Discs that the mover would flip by a move on square `n`; 0 if the move is illegal."""
    slot = slot_at(rules, position, n)
    if empty(both(moves(rules, position), one_square(slot))):
        return np.int64(0)
    after, _ = play(rules, position, slot)
    return bits(after.other) - bits(position.own) - 1


def neighbours(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Discs of either side on the up to eight squares around square `n`."""
    place = one_square(slot_at(rules, position, n))
    near = without(around(rules, place), place)
    return bits(both(near, either(position.own, position.other)))


def empty_neighbours(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Empty squares among the up to eight around square `n`."""
    place = one_square(slot_at(rules, position, n))
    return bits(both(without(around(rules, place), place), vacant(rules, position)))


def edge_distance(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Steps from square `n` to the border: 0 on it."""
    slot_at(rules, position, n)
    side = size(rules, position)
    row, column = np.int64(n) // side, np.int64(n) % side
    return np.int64(min(row, side - 1 - row, column, side - 1 - column))


def empties(rules: Context, position: State) -> np.int64:
    """Empty squares of the board."""
    return bits(vacant(rules, position))


def frontier(rules: Context, position: State) -> np.int64:
    """Discs of the mover with an adjacent empty square."""
    return bits(both(position.own, around(rules, vacant(rules, position))))


def stable(rules: Context, position: State) -> np.int64:
    """Discs of the mover that provably stay: on full lines or next to safe discs."""
    return bits(stable_discs(rules, position))


def is_stable(rules: Context, position: State, n: PrintedNumber) -> bool:
    """Return whether square `n` has a disc of the mover that can never be flipped."""
    return not empty(both(stable_discs(rules, position), one_square(slot_at(rules, position, n))))


HEURISTIC_HELPERS = (size, slot_at, last_column, forward, back, safe_on_axis, stable_discs)
