"""Size and adjacency, and a position in plain sets of squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from games.base.text import parse_arguments, parse_choice, parse_whole_number

SIZES = range(4, 17, 2)
BITBOARD_SIZE = 8  # boards up to this size fit one 64-bit word a side
NEIGHBOURS = {"4": 4, "8": 8}
# Places of the rule scalars in the context. A mask has four words, of which a bitboard uses one.
ADJACENCY, CELLS, BOARD, ROWS, COLUMNS, CORNERS = 0, 1, 2, 6, 10, 14
# Features and heuristic functions of the package read states with these functions of a family.
CELL_FUNCTIONS = (
    "ROW_STEP",
    "squares",
    "one_square",
    "both",
    "either",
    "without",
    "empty",
    "bits",
    "shift_up",
    "shift_down",
)


@dataclass(frozen=True, slots=True)
class OthelloRules:
    """Board size, and the neighbours that make a square playable: 4, 8, or 0 for standard rules."""

    size: int = 8
    adjacency: int = 0

    @property
    def cells(self) -> int:
        """Return the number of squares."""
        return self.size * self.size


def read_rules(preset: str, arguments: Sequence[str]) -> OthelloRules:
    """Return the rules of a name; only the adjacent variant has an adjacency."""
    adjacent = preset == "othello-adjacent"
    known = ("size", "adjacency") if adjacent else ("size",)
    given = parse_arguments(preset, arguments, ("size",), known)
    size = parse_whole_number(preset, "size", given.get("size", "8"), SIZES)
    if not adjacent:
        return OthelloRules(size)
    word = parse_choice(preset, "adjacency", given.get("adjacency", "8"), NEIGHBOURS)
    return OthelloRules(size, NEIGHBOURS[word])


def rules_name(preset: str, rules: OthelloRules) -> str:
    """Return the canonical name, which `read_rules` can read."""
    more = ",adjacency=4" if rules.adjacency == 4 else ""
    return f"{preset}({rules.size}{more})"


class Discs(NamedTuple):
    """A position in plain numbers: squares in row-major order, row * size + column."""

    own: frozenset[int]
    other: frozenset[int]


def start_discs(rules: OthelloRules) -> Discs:
    """Return the four discs of the start as Black sees them."""
    size, half = rules.size, rules.size // 2
    white = frozenset({(half - 1) * size + half - 1, half * size + half})
    black = frozenset({(half - 1) * size + half, half * size + half - 1})
    return Discs(black, white)


def rule_words(rules: OthelloRules, stride: int) -> list[int]:
    """Return the rule scalars: masks of the board, outer rows, outer columns, and corners."""
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


def square_slots(rules: OthelloRules, stride: int) -> tuple[int, ...]:
    """Return the bit of every square on a board stored in rows of `stride` bits."""
    return tuple(row * stride + col for row in range(rules.size) for col in range(rules.size))
