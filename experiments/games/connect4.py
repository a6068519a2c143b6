"""Connect Four: drop a disc into a column; four in a row win. A board is one word.

Every column has one bit more than it has rows, which stays empty, so that no line crosses a border.
"""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, U, popcount
from games.kernels.hashing import pair_key

COLUMNS, ROWS = 0, 1  # places in the rules


class State(NamedTuple):
    """The discs of the side to move, and those of the other side."""

    own: np.uint64
    other: np.uint64


def connect4(columns=7, rows=6):
    """Return the rules of a board that fits into one word."""
    if not (columns >= 1 and rows >= 1 and columns * (rows + 1) <= 64):
        raise ValueError(f"columns times rows + 1 must be 1 to 64, got {columns} and {rows}")
    return columns, rows


def start(rules):
    """Return the empty board."""
    return State(0, 0)


def slots(rules):
    """Return the moves: the top cell of each column means a disc in that column."""
    return [column * (rules[ROWS] + 1) + rules[ROWS] - 1 for column in range(rules[COLUMNS])]


def four(discs, rows):
    """Return whether there are four in a row: in a column, a row or a diagonal."""
    for step in (1, rows, rows + 1, rows + 2):
        pairs = discs & (discs >> U(step))
        if pairs & (pairs >> U(2 * step)) != ZERO:
            return True
    return False


def moves(rules, s):
    """Return the empty top cells; none after the other side has won."""
    if four(s.other, rules[ROWS]):
        return ZERO
    taken, free = s.own | s.other, ZERO
    for column in range(rules[COLUMNS]):
        free |= ONE << U(column * (rules[ROWS] + 1) + rules[ROWS] - 1)
    return free & ~taken


def play(rules, s, slot):
    """Return the state after a move, and whether the same side moves again: never here."""
    bottom = slot - U(rules[ROWS] - 1)
    column = ((ONE << U(rules[ROWS])) - ONE) << bottom
    taken = s.own | s.other
    disc = (taken + (ONE << bottom)) & column & ~taken
    return State(s.other, s.own | disc), False


def turned(s):
    """Return the state with the other side to move."""
    return State(s.other, s.own)


def key(s):
    """Return a hash of the board, never 0."""
    return pair_key(s.own, s.other)


def final(rules, s):
    """Return the result for the side to move: lost, or a draw on a full board."""
    return -1 if four(s.other, rules[ROWS]) else 0


def score(rules, position):
    """Return the points of both players, the first one first: one for four in a row."""
    mover, waiting = (int(four(discs, rules[ROWS])) for discs in position.state)
    return (mover, waiting) if position.mover == 0 else (waiting, mover)


def draw(rules, position):
    """Return the board as text; the first player has X."""
    first, second = position.state if position.mover == 0 else position.state[::-1]
    columns, rows = rules
    lines = []
    for row in reversed(range(rows)):
        bits = [column * (rows + 1) + row for column in range(columns)]
        cells = [
            "X" if first >> b & ONE else "O" if second >> b & ONE else "." for b in map(U, bits)
        ]
        lines.append(" ".join(cells))
    return "\n".join([*lines, " ".join(str(column + 1) for column in range(columns))])


def threes(rules, s):
    """Return the number of empty cells that would give the side four in a row: a feature."""
    found, rows = 0, rules[ROWS]
    for column in range(rules[COLUMNS]):
        for row in range(rows):
            cell = ONE << U(column * (rows + 1) + row)
            if (s.own | s.other) & cell == ZERO and four(s.own | cell, rows):
                found += 1
    return found


def central(rules, s):
    """Return the number of discs in the middle column: a feature."""
    rows, middle = rules[ROWS], rules[COLUMNS] // 2
    return popcount(s.own & (((ONE << U(rows)) - ONE) << U(middle * (rows + 1))))


FEATURES = ("threes", "central")
