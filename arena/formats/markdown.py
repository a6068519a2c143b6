"""Markdown: tables."""

import re

from arena.formats.records import Cell, TextTable
from games.base.errors import printable

SUFFIX, RAW = ".md", False
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def table_text(table: TextTable) -> str:
    """Return a table below its caption; numbers are right-aligned."""
    rule = [":--" if place < table.text_columns else "--:" for place in range(len(table.head))]
    lines = [_row(table.head), f"| {' | '.join(rule)} |", *map(_row, table.rows)]
    return f"{_escape(table.caption)}\n\n" + "\n".join(lines) + "\n"


def _row(cells: tuple[Cell, ...]) -> str:
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _escape(cell: Cell) -> str:
    text = "" if cell is None else str(cell)
    return MARKS.sub(r"\\\1", printable(text.replace("\u00a0", " ")))
