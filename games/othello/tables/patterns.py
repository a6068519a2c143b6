"""Patterns: the discs on sets of squares, in all eight views of the board."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from games.base.text import GameError, quote
from games.kernels.bits import FAST_GATHER, U, gathered_bits
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import Kernel, Scope, inlined
from games.learned_tables import Entries, TableGroup, TableLayout
from games.othello.rules import BITBOARD_SIZE, OthelloRules
from games.othello.tables.board_views import (
    VIEWS,
    flipped,
    image,
    mirrored,
    transposed,
)

MOST_SQUARES = 10  # 59,049 entries; 12 squares have 531,441, which leave the cache
MOST_PATTERNS = 40
SQUARE = re.compile(r"([a-h])([1-8])")
LINES = {8: (4, 5, 6, 7, 8), 6: (4, 5, 6), 4: (3, 4)}  # lengths of the diagonals in use


def usual(size: int) -> dict[str, str]:
    """The patterns of a board: edges, corners, rows, diagonals."""
    last, letters = size, "abcdefgh"[:size]
    found = {"edge2x": f"{_row(letters, 1)} b2 {letters[-2]}2"}
    width = min(3, size // 2)
    found["corner"] = " ".join(_row(letters[:width], row) for row in range(1, width + 1))
    if size > 4:
        wide = letters[:5]
        found["block"] = f"{_row(wide, 1)} {_row(wide, 2)}"
    for row in range(2, size // 2 + 1):
        found[f"row{row}"] = _row(letters, row)
    for length in reversed(LINES[size]):
        first = last - length  # the diagonal begins so far from a corner
        squares = [f"{letters[place]}{place + first + 1}" for place in range(length)]
        found[f"diagonal{length}"] = " ".join(squares)
    return found


def _row(letters: str, row: int) -> str:
    return " ".join(f"{letter}{row}" for letter in letters)


def layout(rules: OthelloRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """The usual patterns of the board, or a user's own."""
    if rules.size > BITBOARD_SIZE:
        raise GameError(f"patterns are for boards up to 8x8, this one is {rules.size}x{rules.size}")
    patterns = own or usual(rules.size)
    if len(patterns) > MOST_PATTERNS:
        raise GameError(f"there are at most {MOST_PATTERNS} patterns, got {len(patterns)}")
    shift = shift_of(rules.size)
    groups = []
    for name, words in patterns.items():
        squares = read_squares(name, words, rules.size)
        mask = sum(1 << square + shift for square in squares)
        text = " ".join(f"{'abcdefgh'[at % 8]}{at // 8 + 1}" for at in sorted(squares))
        groups.append(TableGroup(name, text, 3 ** len(squares), len(views_of(mask))))
    return TableLayout(f"patterns{rules.size}", tuple(groups))


def read_squares(name: str, words: str, size: int) -> frozenset[int]:
    """The squares of `a1 b1 c1` as bits of a board in rows of eight; GameError if there is one."""
    squares = []
    for word in words.lower().split():
        found = SQUARE.fullmatch(word)
        if not found or ord(found[1]) - 97 >= size or int(found[2]) > size:
            raise GameError(f"pattern {quote(name)}: {quote(word)} is no square of this board")
        squares.append(ord(found[1]) - 97 + 8 * (int(found[2]) - 1))
    if not 1 <= len(set(squares)) == len(squares) <= MOST_SQUARES:
        raise GameError(
            f"pattern {quote(name)} must have 1 to {MOST_SQUARES} different squares, "
            f"got {len(squares)}"
        )
    return frozenset(squares)


def shift_of(size: int) -> int:
    """What moves a board into the middle of 8x8, where the views of 8x8 are its views."""
    return (8 - size) // 2 * 9


def mask_of(words: str, size: int) -> int:
    """The squares of a pattern in the middle of 8x8."""
    return sum(1 << square + shift_of(size) for square in read_squares("", words, size))


def views_of(mask: int) -> list[int]:
    """The views in which a pattern lies on squares of its own, the first of each."""
    seen: dict[int, int] = {}
    for view in range(VIEWS):
        seen.setdefault(image(mask, view, back=True), view)
    return list(seen.values())


def size_of(of: TableLayout) -> int:
    """The size of the board of a layout."""
    return int(of.kind.removeprefix("patterns"))


def known(rules: Context, position: State) -> np.int64:
    """Nothing counts beside the patterns."""
    return np.int64(0)


def lookups(of: TableLayout) -> Kernel:
    """Straight lines of code: the eight views of both sides once, then a lookup a line."""
    size = size_of(of)
    shift = shift_of(size)
    body = [f"{side}0 = position.{field} << U({shift})" for side, field in SIDES]
    body += [line.replace("?", side) for side, _ in SIDES for line in VIEW_LINES]
    body.append("total = np.int64(0)")
    for place, (start, mask, view) in enumerate(instances(of)):
        index = " + ".join(
            f"{factor}ternary(rules, {gather(f'{side}{view}', mask)})"
            for factor, (side, _) in zip(("", "2 * "), SIDES, strict=True)
        )
        body.append(f"total += look(rules, base + {start} + {index}, {place})")
    text = "def lookups(rules, position, base):\n    " + "\n    ".join([*body, "return total"])
    scope: Scope = {
        "np": np, "U": U, "gathered_bits": gathered_bits,
        "flipped": flipped, "mirrored": mirrored, "transposed": transposed,
    }  # fmt: skip
    exec(text, scope)
    made: Kernel = inlined(scope["lookups"])
    return made


SIDES = (("own", "own"), ("other", "other"))
VIEW_LINES = (
    "?1 = flipped(?0)",
    "?2 = mirrored(?0)",
    "?3 = mirrored(?1)",
    "?4 = transposed(?0)",
    "?5 = flipped(?4)",
    "?6 = mirrored(?4)",
    "?7 = mirrored(?5)",
)


def instances(of: TableLayout) -> Iterator[tuple[int, int, int]]:
    """Every lookup: where its table begins, the squares, the view of the board."""
    for each in of.groups:
        mask = mask_of(each.words, size_of(of))
        for view in views_of(mask):
            yield of.starts[each.name], mask, view


def gather(board: str, mask: int, fast: bool = FAST_GATHER) -> str:
    """The code that puts the squares of a mask side by side."""
    if fast:
        return f"gathered_bits({board}, U({mask}))"
    squares = [at for at in range(64) if mask >> at & 1]
    columns = [at % 8 for at in squares]
    if columns == list(range(columns[0], columns[0] + len(columns))):
        # One square a column: the product adds the rows up, and no sum carries.
        low = (1 << len(columns)) - 1
        product = f"(({board} & U({mask})) * U(0x0101010101010101))"
        return f"(({product} >> U({56 + columns[0]})) & U({low}))"
    runs: dict[int, int] = {}  # squares that are shifted alike
    for place, at in enumerate(squares):
        runs[at - place] = runs.get(at - place, 0) | 1 << at
    parts = [f"(({board} & U({part})) >> U({by}))" for by, part in runs.items()]
    return f"({' | '.join(parts)})"


@cache
def same(of: TableLayout) -> Entries:
    """A pattern that lies on itself in another view has one weight for both readings."""
    found = [
        start + folded(mask_of(each.words, size_of(of)))
        for each, start in zip(of.groups, of.starts.values(), strict=True)
    ]
    return np.concatenate(found)


def folded(mask: int) -> Entries:
    """For every entry of one pattern the lowest of those that mean the same."""
    squares = [at for at in range(64) if mask >> at & 1]
    powers = 3 ** np.arange(len(squares))
    digits = np.arange(3 ** len(squares))[:, None] // powers % 3
    lowest = np.arange(3 ** len(squares))
    for view in range(VIEWS):
        if image(mask, view) == mask:
            moved = [squares.index(image(1 << at, view).bit_length() - 1) for at in squares]
            lowest = np.minimum(lowest, digits @ powers[moved])
    return lowest
