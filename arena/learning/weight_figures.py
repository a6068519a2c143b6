"""Learned weights as figures: what beans in a hole are worth, patterns worth most and least."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluations.learned_weights import FEATURES, LearnedWeights
from arena.learning.weights_shown import MOST_BEANS, table_of
from arena.showing import plots
from arena.showing.html import Html, joined, tag
from games.table_layout import TableGroup

Floats = NDArray[np.float64]
CELL, GAP, READINGS = 15, 14, 4  # pixels of a square, between boards; readings at either end
WOOD, FELT, INK = "#f1efe9", "#2e7d4f", "#1b1f24"
DARKEST = (31, 95, 168), (168, 72, 11)  # good for the mover, bad


def weight_figures(read: LearnedWeights, path: Path) -> Iterator[tuple[str, str]]:
    """The figures of a file's weights by name, in the middle of the game."""
    if read.kind == FEATURES:
        names = list(read.groups)
        values = [float(column.mean()) for column in read.weights.T]
        yield "features", feature_bars(names, values)
        return
    layout, whole = table_of(path, read)
    row = whole[read.phases // 2]
    for each in layout.groups:
        table = row[layout.starts[each.name] :][: each.entries]
        if each.name == "holes":
            yield each.name, hole_figure(table)
        elif layout.kind.startswith("patterns"):
            yield each.name, pattern_figure(each, table)


def feature_bars(names: Sequence[str], values: Sequence[float]) -> str:
    """A bar for the size of each feature's weight, its sign beside its name."""
    signed = [
        f"{name} {'-' if value < 0 else '+'}" for name, value in zip(names, values, strict=True)
    ]
    return plots.bars(signed, [abs(value) for value in values], "Weights of the features")


def hole_figure(table: Floats) -> str:
    """A cell for each own hole and number of beans: what they are worth against none."""
    own = table.reshape(2, -1, 16)[0]
    values = own[:, 1:MOST_BEANS] - own[:, :1]
    largest = max(float(np.abs(values).max()), 0.1)
    wide, tall, left, top = 44, 26, 70, 58
    parts = [_words(left + wide * beans + wide / 2, top - 8, str(beans + 1), "middle")
             for beans in range(values.shape[1])]  # fmt: skip
    for hole, line in enumerate(values):
        y = top + tall * hole
        parts.append(_words(left - 8, y + 17, f"hole {hole + 1}", "end"))
        for beans, value in enumerate(line.tolist()):
            x = left + wide * beans
            parts.append(_box(x, y, wide, tall, _shade(value / largest)))
            parts.append(_words(x + wide / 2, y + 17, f"{value:.1f}", "middle"))
    title = "What so many beans in an own hole are worth against none"
    return _figure(left + wide * values.shape[1] + 10, top + tall * len(values) + 12, title, parts)


def _shade(share: float) -> str:
    """From white to the darkest colour of the side that it is good for."""
    dark = DARKEST[share < 0]
    strength = 0.75 * min(abs(share), 1.0)
    return "#" + "".join(f"{round(255 + (each - 255) * strength):02x}" for each in dark)


def pattern_figure(group: TableGroup, table: Floats) -> str:
    """The readings of a pattern that are worth most and least to the mover, as boards."""
    squares = [(ord(word[0]) - 97, int(word[1:]) - 1) for word in group.words.split()]
    order = np.argsort(table, kind="stable")
    used = order[table[order] != 0]
    best, worst = used[::-1][:READINGS], used[:READINGS]
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    wide, tall = CELL * max(columns, 4) + GAP, CELL * rows + 26
    parts = []
    for line, entries in enumerate((best, worst)):
        for place, entry in enumerate(entries.tolist()):
            x, y = 10 + wide * place, 34 + tall * line
            parts.append(_words(x, y + 12, f"{table[entry]:+.1f}", "start"))
            parts += [
                _square(x + CELL * column, y + 18 + CELL * row, entry // 3**at % 3)
                for at, (column, row) in enumerate(squares)
            ]
    title = f"{group.name}: worth most, worth least"
    return _figure(max(20 + wide * READINGS, 300), 40 + 2 * tall, title, parts)


def _square(x: float, y: float, disc: int) -> Html:
    """A square: empty, the mover's black disc, the other's white one."""
    ground = _box(x, y, CELL, CELL, FELT)
    if disc == 0:
        return ground
    colour = INK if disc == 1 else "#ffffff"
    middle = CELL / 2
    return joined([ground, tag("circle", cx=x + middle, cy=y + middle, r=middle - 2, fill=colour)])


def _box(x: float, y: float, wide: float, tall: float, colour: str) -> Html:
    return tag("rect", x=x, y=y, width=wide, height=tall, fill=colour, stroke=WOOD)


def _words(x: float, y: float, text: str, anchor: str) -> Html:
    return tag("text", text, x=x, y=y, text_anchor=anchor)


def _figure(wide: float, tall: float, title: str, parts: Sequence[Html]) -> str:
    heading = tag("text", title, x=10, y=20, font_size="14", font_weight="bold")
    return tag(
        "svg", tag("rect", width="100%", height="100%", fill="#fff"), heading, *parts,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {wide:g} {tall:g}",
        width=f"{wide:g}", height=f"{tall:g}", role="img", aria_label=title,
        font_family="sans-serif", font_size="12", fill=INK,
    )  # fmt: skip
