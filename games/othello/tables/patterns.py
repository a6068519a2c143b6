"""Table `patterns`: the discs on sets of squares, in all eight views of the board."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from games.base.text import GameError, quote
from games.kernels.bits import FAST_GATHER, U, gathered_bits
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import Kernel, Scope, inline, python_function
from games.learned_tables import Entries, TableGroup, TableLayout
from games.othello.rules import BITBOARD_SIZE, OthelloRules

VIEWS = 8
ONE, TWO, FOUR, EIGHT, SIXTEEN, HALF = U(1), U(2), U(4), U(8), U(16), U(32)
BYTES, PAIRS = U(0x00FF_00FF_00FF_00FF), U(0x0000_FFFF_0000_FFFF)
BITS_1, BITS_2, BITS_4 = (
    U(0x5555_5555_5555_5555),
    U(0x3333_3333_3333_3333),
    U(0x0F0F_0F0F_0F0F_0F0F),
)
SEVEN, FOURTEEN, TWENTY_EIGHT = U(7), U(14), U(28)
SWAP_1, SWAP_2, SWAP_4 = (
    U(0x00AA_00AA_00AA_00AA),
    U(0x0000_CCCC_0000_CCCC),
    U(0x0000_0000_F0F0_F0F0),
)
MOST_SQUARES = 10  # 59,049 entries; 12 squares have 531,441, too many for the processor's cache
MOST_PATTERNS = 40
SQUARE = re.compile(r"([a-h])([1-8])")
LINES = {8: (4, 5, 6, 7, 8), 6: (4, 5, 6), 4: (3, 4)}  # by board size: lengths of the diagonals
SIDES = (("own", "own"), ("other", "other"))
VIEW_LINES = (
    "?1 = flip_rows(?0)",
    "?2 = flip_columns(?0)",
    "?3 = flip_columns(?1)",
    "?4 = transpose(?0)",
    "?5 = flip_rows(?4)",
    "?6 = flip_columns(?4)",
    "?7 = flip_columns(?5)",
)


@inline
def flip_rows(board: np.uint64) -> np.uint64:
    """Flip rows: the first row becomes the last."""
    board = ((board >> EIGHT) & BYTES) | ((board & BYTES) << EIGHT)
    board = ((board >> SIXTEEN) & PAIRS) | ((board & PAIRS) << SIXTEEN)
    return (board >> HALF) | (board << HALF)


@inline
def flip_columns(board: np.uint64) -> np.uint64:
    """Flip columns: the first column becomes the last."""
    board = ((board >> ONE) & BITS_1) | ((board & BITS_1) << ONE)
    board = ((board >> TWO) & BITS_2) | ((board & BITS_2) << TWO)
    return ((board >> FOUR) & BITS_4) | ((board & BITS_4) << FOUR)


@inline
def transpose(board: np.uint64) -> np.uint64:
    """Exchange rows and columns."""
    change = (board ^ (board >> SEVEN)) & SWAP_1
    board = board ^ change ^ (change << SEVEN)
    change = (board ^ (board >> FOURTEEN)) & SWAP_2
    board = board ^ change ^ (change << FOURTEEN)
    change = (board ^ (board >> TWENTY_EIGHT)) & SWAP_4
    return board ^ change ^ (change << TWENTY_EIGHT)


def image(squares: int, view: int, back: bool = False) -> int:
    """Return the squares in view `view` of the board; `back` inverts the mapping."""
    steps = [transpose] * (view >> 2) + [flip_rows] * (view & 1) + [flip_columns] * (view >> 1 & 1)
    board = U(squares)
    with np.errstate(over="ignore"):
        for step in reversed(steps) if back else steps:
            board = python_function(step)(board)
    return int(board)


def default_patterns(size: int) -> dict[str, str]:
    """Return the default patterns of a board: edges, corners, rows, diagonals."""
    last, letters = size, "abcdefgh"[:size]
    patterns = {"edge2x": f"{_row(letters, 1)} b2 {letters[-2]}2"}
    width = min(3, size // 2)
    patterns["corner"] = " ".join(_row(letters[:width], row) for row in range(1, width + 1))
    if size > 4:
        wide = letters[:5]
        patterns["block"] = f"{_row(wide, 1)} {_row(wide, 2)}"
    for row in range(2, size // 2 + 1):
        patterns[f"row{row}"] = _row(letters, row)
    for length in reversed(LINES[size]):
        first = last - length  # distance of the diagonal from a corner
        squares = [f"{letters[place]}{place + first + 1}" for place in range(length)]
        patterns[f"diagonal{length}"] = " ".join(squares)
    return patterns


def _row(letters: str, row: int) -> str:
    return " ".join(f"{letter}{row}" for letter in letters)


def layout(rules: OthelloRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """Return the layout of the default patterns, or of a user's patterns."""
    if rules.size > BITBOARD_SIZE:
        raise GameError(f"patterns are for boards up to 8x8, this one is {rules.size}x{rules.size}")
    patterns = own or default_patterns(rules.size)
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
    """Return `a1 b1 c1` as bits of a board in rows of eight; GameError for invalid squares."""
    squares = []
    for word in words.lower().split():
        found = SQUARE.fullmatch(word)
        if not found or ord(found[1]) - 97 >= size or int(found[2]) > size:
            raise GameError(f"pattern {quote(name)}: {quote(word)} is not a square of this board")
        squares.append(ord(found[1]) - 97 + 8 * (int(found[2]) - 1))
    if not 1 <= len(set(squares)) == len(squares) <= MOST_SQUARES:
        raise GameError(
            f"pattern {quote(name)} must have 1 to {MOST_SQUARES} different squares, "
            f"got {len(squares)}"
        )
    return frozenset(squares)


def shift_of(size: int) -> int:
    """Return the shift that centres a board on 8x8, so that both have the same views."""
    return (8 - size) // 2 * 9


def mask_of(words: str, size: int) -> int:
    """Return the squares of a pattern on the centred board."""
    return sum(1 << square + shift_of(size) for square in read_squares("", words, size))


def views_of(mask: int) -> list[int]:
    """Return the first view for each different set of squares that the pattern covers."""
    seen: dict[int, int] = {}
    for view in range(VIEWS):
        seen.setdefault(image(mask, view, back=True), view)
    return list(seen.values())


def size_of(layout: TableLayout) -> int:
    """Return the board size of a layout."""
    return int(layout.kind.removeprefix("patterns"))


def known_score(rules: Context, position: State) -> np.int64:
    """Return 0: only patterns count."""
    return np.int64(0)


def lookups(layout: TableLayout) -> Kernel:
    """Generate straight-line code: the eight views of both sides, then one lookup per line."""
    size = size_of(layout)
    shift = shift_of(size)
    body = [f"{side}0 = position.{field} << U({shift})" for side, field in SIDES]
    body += [line.replace("?", side) for side, _ in SIDES for line in VIEW_LINES]
    body.append("total = np.int64(0)")
    for place, (start, mask, view) in enumerate(lookup_sites(layout)):
        index = " + ".join(
            f"{factor}ternary(rules, {gather_code(f'{side}{view}', mask)})"
            for factor, (side, _) in zip(("", "2 * "), SIDES, strict=True)
        )
        body.append(f"total += look(rules, base + {start} + {index}, {place})")
    text = "def lookups(rules, position, base):\n    " + "\n    ".join([*body, "return total"])
    scope: Scope = {
        "np": np, "U": U, "gathered_bits": gathered_bits,
        "flip_rows": flip_rows, "flip_columns": flip_columns, "transpose": transpose,
    }  # fmt: skip
    exec(text, scope)
    made: Kernel = inline(scope["lookups"])
    return made


def lookup_sites(layout: TableLayout) -> Iterator[tuple[int, int, int]]:
    """Yield start, squares and view of every lookup."""
    for group in layout.groups:
        mask = mask_of(group.description, size_of(layout))
        for view in views_of(mask):
            yield layout.starts[group.name], mask, view


def gather_code(board: str, mask: int, fast: bool = FAST_GATHER) -> str:
    """Return the code that packs the squares of a mask."""
    if fast:
        return f"gathered_bits({board}, U({mask}))"
    squares = [at for at in range(64) if mask >> at & 1]
    columns = [at % 8 for at in squares]
    if columns == list(range(columns[0], columns[0] + len(columns))):
        # One square per column: the product adds the rows without carries.
        low = (1 << len(columns)) - 1
        product = f"(({board} & U({mask})) * U(0x0101010101010101))"
        return f"(({product} >> U({56 + columns[0]})) & U({low}))"
    runs: dict[int, int] = {}  # squares with the same shift
    for place, at in enumerate(squares):
        runs[at - place] = runs.get(at - place, 0) | 1 << at
    parts = [f"(({board} & U({part})) >> U({by}))" for by, part in runs.items()]
    return f"({' | '.join(parts)})"


@cache
def same(layout: TableLayout) -> Entries:
    """Return, for every entry, the first of those that share its weight.

    If a view maps a pattern to itself, both ways to read the pattern share their weights.
    """
    entries = [
        start + symmetric_entries(mask_of(group.description, size_of(layout)))
        for group, start in zip(layout.groups, layout.starts.values(), strict=True)
    ]
    return np.concatenate(entries)


def symmetric_entries(mask: int) -> Entries:
    """Return for each entry of a pattern the lowest entry with the same meaning."""
    squares = [at for at in range(64) if mask >> at & 1]
    powers = 3 ** np.arange(len(squares))
    digits = np.arange(3 ** len(squares))[:, None] // powers % 3
    lowest = np.arange(3 ** len(squares))
    for view in range(VIEWS):
        if image(mask, view) == mask:
            moved = [squares.index(image(1 << at, view).bit_length() - 1) for at in squares]
            lowest = np.minimum(lowest, digits @ powers[moved])
    return lowest
