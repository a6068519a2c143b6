"""Tables as Markdown, for pages and messages."""

import re

from arena.formats.records import Cell, TextTable
from games.base.errors import printable

SUFFIX, RAW = ".md", False
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def text(each: TextTable) -> str:
    """One table under its caption; numbers stand to the right."""
    rule = [":--" if place < each.words else "--:" for place in range(len(each.head))]
    lines = [_row(each.head), f"| {' | '.join(rule)} |", *map(_row, each.rows)]
    return f"{_escaped(each.caption)}\n\n" + "\n".join(lines) + "\n"


def _row(cells: tuple[Cell, ...]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(cell: Cell) -> str:
    words = "" if cell is None else str(cell)
    return MARKS.sub(r"\\\1", printable(words.replace("\u00a0", " ")))
