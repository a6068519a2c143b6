"""What both Othello states share: rule scalars, and positions in plain sets of squares."""

from typing import NamedTuple

from games.othello.rules import OthelloRules

# Places of the rule scalars in the context.
ADJACENCY, CELLS, BOARD = range(3)  # the board mask takes one word or four, from BOARD on


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


def strided(rules: OthelloRules, stride: int) -> tuple[int, ...]:
    """The bit of every square on a board stored in rows of `stride` bits."""
    return tuple(row * stride + col for row in range(rules.size) for col in range(rules.size))
