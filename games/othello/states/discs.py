"""What both Othello states share: rule scalars, and positions in plain sets of squares."""

from typing import NamedTuple

from games.othello.rules import OthelloRules

# Places of the rule scalars in the context. A mask has four words, of which a bitboard uses one.
ADJACENCY, CELLS, BOARD, ROWS, COLUMNS, CORNERS = 0, 1, 2, 6, 10, 14


class Discs(NamedTuple):
    """A position in plain numbers: squares row-major, row * size + column."""

    own: frozenset[int]
    other: frozenset[int]


def start_discs(rules: OthelloRules) -> Discs:
    """The four discs of the start, seen by Black: White on the falling diagonal."""
    size, half = rules.size, rules.size // 2
    white = frozenset({(half - 1) * size + half - 1, half * size + half})
    black = frozenset({(half - 1) * size + half, half * size + half - 1})
    return Discs(black, white)


def scalars(rules: OthelloRules, stride: int) -> list[int]:
    """The rule scalars: the board, its first and last row, first and last column, corners."""
    ends = (0, rules.size - 1)
    cells = [(row, col) for row in range(rules.size) for col in range(rules.size)]
    masks = (
        sum(1 << row * stride + col for row, col in cells),
        sum(1 << row * stride + col for row, col in cells if row in ends),
        sum(1 << row * stride + col for row, col in cells if col in ends),
        sum(1 << row * stride + col for row, col in cells if row in ends and col in ends),
    )
    words = [mask >> 64 * word & 0xFFFF_FFFF_FFFF_FFFF for mask in masks for word in range(4)]
    return [rules.adjacency, rules.cells, *words]


def strided(rules: OthelloRules, stride: int) -> tuple[int, ...]:
    """The bit of every square on a board stored in rows of `stride` bits."""
    return tuple(row * stride + col for row in range(rules.size) for col in range(rules.size))
