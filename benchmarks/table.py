"""The results of benchmarks and their table."""

from collections.abc import Sequence
from typing import NamedTuple

HEAD = ("what", "ours", "against", "ratio", "target", "")


class Row(NamedTuple):
    """One comparison; a ratio above 1 means that ours is faster, smaller or earlier."""

    what: str
    ours: str
    against: str
    ratio: float | None  # None: not measured; `against` gives the reason
    target: float | None = None  # None: for information only
    detail: str = ""  # text below the table, such as a detailed table

    @property
    def verdict(self) -> str:
        """`ok`, `below` or `skipped`; empty without a target."""
        if self.ratio is None:
            return "skipped"
        if self.target is None:
            return ""
        return "ok" if self.ratio >= self.target else "below"


def skipped_row(what: str, why: str, target: float) -> Row:
    """Return the row of a comparison that this machine cannot make."""
    return Row(what, "", f"skipped: {why}", None, target)


def per_second(rate: float) -> str:
    """Format a rate with its unit prefix: `12.3 M/s`."""
    for scale, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= scale:
            return f"{rate / scale:.3g} {prefix}/s"
    return f"{rate:.3g} /s"


def table_text(rows: Sequence[Row]) -> str:
    """Format the rows as a Markdown table, aligned for the terminal."""
    lines = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
        for line in lines
    )


def details(rows: Sequence[Row]) -> str:
    """Return the text below the table: the details of rows that have some, with their names."""
    return "\n\n".join(f"{row.what}\n\n{row.detail}" for row in rows if row.detail)


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    target = "" if row.target is None else f"{row.target:g}"
    return row.what, row.ours, row.against, ratio, target, row.verdict
