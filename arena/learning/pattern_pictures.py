"""Pictures of patterns: the readings that are worth most and least to the mover."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SIGNS = ".XO"  # empty, the mover's, the other's
BETWEEN = "   "


def pictures(words: str, table: NDArray[np.float64], few: int) -> Iterator[str]:
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
        drawn = [picture(squares, int(entry), float(table[entry])) for entry in places]
        yield from (BETWEEN.join(row).rstrip() for row in zip(*drawn, strict=True))


def picture(squares: list[tuple[int, int]], entry: int, value: float) -> list[str]:
    """One reading: what it is worth, then its rows, the squares outside of it left blank."""
    columns, rows = (max(each) + 1 for each in zip(*squares, strict=True))
    signs = {square: SIGNS[entry // 3**place % 3] for place, square in enumerate(squares)}
    width = max(columns, 6)
    lines = ["".join(signs.get((x, y), " ") for x in range(columns)) for y in range(rows)]
    return [f"{value:+.1f}".ljust(width), *(line.ljust(width) for line in lines)]
