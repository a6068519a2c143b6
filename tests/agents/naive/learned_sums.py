"""Learned evaluations as sums written from their description."""

from collections.abc import Iterator, Mapping

Squares = dict[tuple[int, int], int]  # (column, row) -> 1 the mover's, 2 the other's


def views(board: Squares, size: int) -> Iterator[Squares]:
    """The board as it is, turned by quarters, and the same in a mirror."""
    for mirror in (False, True):
        for quarters in range(4):
            moved = {}
            for (column, row), disc in board.items():
                x, y = (size - 1 - column if mirror else column), row
                for _ in range(quarters):
                    x, y = size - 1 - y, x
                moved[x, y] = disc
            yield moved


def pattern_sum(
    board: Squares, size: int, groups: Mapping[str, str], weights: Mapping[tuple[str, int], int]
) -> int:
    """Every pattern read once on every different set of squares that it covers in some view.

    `weights` are by pattern and entry, the lowest entry of those that mean the same.
    """
    total = 0
    marks = {(x, y): 1 + x + size * y for x in range(size) for y in range(size)}
    for name, words in groups.items():
        cells = sorted(
            ((ord(word[0]) - 97, int(word[1:]) - 1) for word in words.split()),
            key=lambda cell: (cell[1], cell[0]),
        )
        readings: dict[frozenset[int], list[int]] = {}
        for view, marked in zip(views(board, size), views(marks, size), strict=True):
            covered = frozenset(marked[cell] for cell in cells)
            entry = sum(view.get(cell, 0) * 3**place for place, cell in enumerate(cells))
            readings.setdefault(covered, []).append(entry)
        total += sum(weights[name, min(entries)] for entries in readings.values())
    return total


def hole_sum(own: list[int], other: list[int], weight: Mapping[tuple, int], pairs: bool) -> int:
    """The holes of both sides; with `pairs` neighbours of a side and holes that face."""
    cap = [[min(beans, 15) for beans in row] for row in (own, other)]
    total = sum(
        weight["hole", side, at, row[at]] for side, row in enumerate(cap) for at in range(len(own))
    )
    if not pairs:
        return total
    for side, row in enumerate(cap):
        for at in range(len(row) - 1):
            total += weight["beside", side, at, row[at], row[at + 1]]
    for at in range(len(own)):
        total += weight["facing", at, cap[0][at], cap[1][len(own) - 1 - at]]
    return total


def all_pairs_sum(own: list[int], other: list[int], weight: Mapping[tuple, int]) -> int:
    """The holes of both sides, every two of them."""
    cap = [min(beans, 15) for beans in [*own, *other]]
    total = sum(weight[at, beans] for at, beans in enumerate(cap))
    for first in range(len(cap)):
        for second in range(first + 1, len(cap)):
            total += weight[first, second, cap[first], cap[second]]
    return total
