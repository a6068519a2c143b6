"""Learned weights as text: holes as rows, patterns as pictures; a comparison of two files."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.weights import (
    FEATURES,
    LearnedWeights,
    load_learned_weights,
    read_learned_weights,
)
from games import game
from games.base.errors import UserError, printable
from games.base.text import GameError
from games.learned_tables import TableLayout

SIGNS = ".XO"  # empty, of the mover, of the opponent
BETWEEN = "   "
MOST_BEANS = 13
FEW = 4  # best and worst entries of a table
WIDTH = 6
Floats = NDArray[np.float64]


def pattern_squares(words: str) -> list[tuple[int, int]]:
    """Return column and row of the squares of a pattern."""
    return [(ord(word[0]) - 97, int(word[1:]) - 1) for word in words.split()]


def nonzero_entries(table: Floats) -> NDArray[np.int64]:
    """Return the entries that are not 0, the worst first."""
    order = np.argsort(table, kind="stable")
    return np.asarray(order[table[order] != 0])


def pattern_lines(words: str, table: Floats, few: int) -> Iterator[str]:
    """Yield the best readings side by side, then the worst."""
    squares, used = pattern_squares(words), nonzero_entries(table)
    if not len(used):
        yield "nothing was learned"
        return
    best, worst = used[::-1][:few], used[: max(0, min(few, len(used) - few))]
    for places in filter(len, (best, worst)):
        drawn = [pattern_block(squares, int(entry), float(table[entry])) for entry in places]
        yield from (BETWEEN.join(row).rstrip() for row in zip(*drawn, strict=True))


def pattern_block(squares: list[tuple[int, int]], entry: int, value: float) -> list[str]:
    """Return one reading: its value, then its rows, with blanks outside the pattern."""
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    signs = {square: SIGNS[entry // 3**place % 3] for place, square in enumerate(squares)}
    width = max(columns, 6)
    lines = ["".join(signs.get((x, y), " ") for x in range(columns)) for y in range(rows)]
    return [f"{value:+.1f}".ljust(width), *(line.ljust(width) for line in lines)]


def weights_lines(path: Path) -> list[str]:
    """Return the lines of `learn --show`."""
    read = read_learned_weights(path)
    lines = list(header_lines(read))
    if read.kind == FEATURES:
        return [*lines, "", *feature_lines(read)]
    layout, whole = table_of(path, read)
    phase = read.phases // 2
    if read.phases > 1:
        lines.append(f"this is phase {phase + 1} of {read.phases}; early phases come last")
    for each in layout.groups:
        start = layout.starts[each.name]
        table = whole[phase, start : start + each.entries]
        lines += ["", f"{printable(each.name)}: {printable(each.description)}"]
        if each.name == "holes":
            lines += hole_lines(table)
        elif layout.kind.startswith("patterns"):
            lines += pattern_lines(each.description, table, FEW)
        else:
            lines += value_range_lines(table)
    return lines


def header_lines(read: LearnedWeights) -> Iterator[str]:
    """Yield the provenance of a file."""
    yield f"{printable(read.game)}, tables {printable(read.kind)}, {read.phases} phases, " + (
        f"{read.weights.size:,} weights, digest {read.digest}"
    )
    yield f"learned from {read.games:,} games (digest {printable(read.games_digest)})"
    held = read.more.get("held_out")
    if isinstance(held, dict):
        words = ", ".join(f"{printable(str(key))} {value}" for key, value in held.items())
        yield f"held out: {words}"
    for command in read.commands:
        yield f"made by: {printable(command)}"


def table_of(path: Path, read: LearnedWeights) -> tuple[TableLayout, Floats]:
    """Return the layout of a file, and a row of discs or beans for each phase."""
    try:
        of = game(read.game)
    except GameError as error:
        raise UserError(f"{path}: {error}") from None
    _, tables, layout = load_learned_weights(path, of)
    same = tables.shared_entries(layout)
    place = np.searchsorted(np.unique(same), same)
    return layout, read.weights[:, place] / read.scale


def feature_lines(read: LearnedWeights) -> Iterator[str]:
    """Yield a line for each feature with its weights phase by phase."""
    width = max(map(len, read.groups))
    for name, values in read.feature_weights().items():
        yield f"{printable(name):<{width}} " + " ".join(f"{value:8.3f}" for value in values)


def hole_lines(table: Floats) -> Iterator[str]:
    """Yield the value of each number of beans in each hole, against an empty hole."""
    rows = table.reshape(2, -1, 16)
    yield "beans        " + "".join(f"{beans:{WIDTH}d}" for beans in range(1, MOST_BEANS))
    for side, name in enumerate(("own", "other")):
        for hole, row in enumerate(rows[side]):
            values = row[1:MOST_BEANS] - row[0]
            cells = "".join(f"{value:{WIDTH}.1f}" for value in values)
            yield f"{name:>5} hole {hole + 1:<2}{cells}"


def value_range_lines(table: Floats) -> Iterator[str]:
    """Yield the range of a table that is too large to draw."""
    used = table[table != 0]
    if not len(used):
        yield "nothing was learned"
        return
    low, high = used.min(), used.max()
    yield f"{len(used):,} of {len(table):,} entries, from {low:.1f} to {high:.1f}"


def comparison_lines(path: Path, other: Path) -> list[str]:
    """Return the lines of `learn --compare`; a UserError if the files have other tables."""
    read, second = read_learned_weights(path), read_learned_weights(other)
    for name in ("game", "kind", "groups"):
        if getattr(read, name) != getattr(second, name):
            one, two = (printable(str(getattr(each, name)), 60) for each in (read, second))
            raise UserError(f"{other}: its {name} is {two}, that of {path} is {one}")
    if read.phases != second.phases:
        raise UserError(f"{other} has {second.phases} phases, {path} has {read.phases}")
    if read.digest == second.digest:
        return ["the same weights"]
    a, b = (each.weights.reshape(-1) / each.scale for each in (read, second))
    used = (a != 0) | (b != 0)
    lines = [
        f"{int(used.sum()):,} of {len(a):,} weights are not 0 in both",
        f"they differ by {float(np.abs(a - b)[used].mean()):.3f} on average, "
        f"at most by {float(np.abs(a - b).max()):.2f}",
    ]
    if used.sum() > 1 and a[used].std() and b[used].std():
        lines.append(f"correlation {float(np.corrcoef(a[used], b[used])[0, 1]):.3f}")
    if read.kind == FEATURES:
        return lines
    layout, first = table_of(path, read)
    _, later = table_of(other, second)
    for each in layout.groups:
        start = layout.starts[each.name]
        own = slice(start, start + each.entries)
        change = float(np.abs(first[:, own] - later[:, own]).mean())
        size = float(np.abs(first[:, own]).mean())
        lines.append(f"{printable(each.name):<12} mean size {size:.3f}, mean change {change:.3f}")
    return lines
