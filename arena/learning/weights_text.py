"""Learned weights as people read them: holes as rows, patterns as pictures; two files compared."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.learned_weights import (
    FEATURES,
    LearnedWeights,
    learned_for,
    read_learned,
)
from games import game
from games.base.errors import UserError, printable
from games.base.text import GameError
from games.learned_tables import TableLayout

SIGNS = ".XO"  # empty, the mover's, the other's
BETWEEN = "   "
MOST_BEANS = 13
FEW = 4  # entries of a table, the best and the worst
WIDTH = 6
Floats = NDArray[np.float64]


def pattern_lines(words: str, table: NDArray[np.float64], few: int) -> Iterator[str]:
    """The best readings beside one another, then the worst."""
    squares = [(ord(word[0]) - 97, int(word[1:]) - 1) for word in words.split()]
    order = np.argsort(table, kind="stable")
    used = order[table[order] != 0]
    if not len(used):
        yield "nothing was learned"
        return
    best, worst = used[::-1][:few], used[: max(0, min(few, len(used) - few))]
    if len(used) <= few:
        best = used[::-1]
    for places in filter(len, (best, worst)):
        drawn = [pattern_block(squares, int(entry), float(table[entry])) for entry in places]
        yield from (BETWEEN.join(row).rstrip() for row in zip(*drawn, strict=True))


def pattern_block(squares: list[tuple[int, int]], entry: int, value: float) -> list[str]:
    """One reading: what it is worth, then its rows, the squares outside of it left blank."""
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    signs = {square: SIGNS[entry // 3**place % 3] for place, square in enumerate(squares)}
    width = max(columns, 6)
    lines = ["".join(signs.get((x, y), " ") for x in range(columns)) for y in range(rows)]
    return [f"{value:+.1f}".ljust(width), *(line.ljust(width) for line in lines)]


def weights_lines(path: Path) -> list[str]:
    """The lines of `show`."""
    read = read_learned(path)
    lines = list(header_lines(read))
    if read.kind == FEATURES:
        return [*lines, "", *feature_lines(read)]
    layout, whole = table_of(path, read)
    phase = read.phases // 2
    if read.phases > 1:
        lines.append(f"what follows is phase {phase + 1} of {read.phases}, early ones last")
    for each in layout.groups:
        start = layout.starts[each.name]
        table = whole[phase, start : start + each.entries]
        lines += ["", f"{printable(each.name)}: {printable(each.words)}"]
        if each.name == "holes":
            lines += hole_lines(table)
        elif layout.kind.startswith("patterns"):
            lines += pattern_lines(each.words, table, FEW)
        else:
            lines += spread_lines(table)
    return lines


def header_lines(read: LearnedWeights) -> Iterator[str]:
    """What the file says of itself."""
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
    """The layout of a file, and a row of discs or beans a phase."""
    try:
        of = game(read.game)
    except GameError as error:
        raise UserError(f"{path}: {error}") from None
    _, tables, layout = learned_for(path, of)
    same = tables.same(layout)
    place = np.searchsorted(np.unique(same), same)
    return layout, read.weights[:, place] / read.scale


def feature_lines(read: LearnedWeights) -> Iterator[str]:
    """A line a feature, its weights phase by phase."""
    width = max(map(len, read.groups))
    for name, values in read.by_feature().items():
        yield f"{printable(name):<{width}} " + " ".join(f"{value:8.3f}" for value in values)


def hole_lines(table: Floats) -> Iterator[str]:
    """What so many beans in a hole are worth against none, hole by hole."""
    rows = table.reshape(2, -1, 16)
    yield "beans        " + "".join(f"{beans:{WIDTH}d}" for beans in range(1, MOST_BEANS))
    for side, name in enumerate(("own", "other")):
        for hole, row in enumerate(rows[side]):
            values = row[1:MOST_BEANS] - row[0]
            cells = "".join(f"{value:{WIDTH}.1f}" for value in values)
            yield f"{name:>5} hole {hole + 1:<2}{cells}"


def spread_lines(table: Floats) -> Iterator[str]:
    """How large the entries of a table are, where there are too many to draw."""
    used = table[table != 0]
    if not len(used):
        yield "nothing was learned"
        return
    low, high = used.min(), used.max()
    yield f"{len(used):,} of {len(table):,} entries, from {low:.1f} to {high:.1f}"


def comparison_lines(path: Path, other: Path) -> list[str]:
    """The lines of `compare`; a UserError if the files have other tables."""
    read, second = read_learned(path), read_learned(other)
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
