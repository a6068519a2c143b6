"""What agents thought of their moves, ply by ply, for the replay of the games that are listed."""

import json
import math
from collections.abc import Callable, Iterator, Mapping

from arena.keeping.parquet import read_lists
from arena.keeping.thought_table import THOUGHTS
from arena.showing.report_contents import Report

MOST_NUMBERS = 120_000  # on a page
MOST_NAMES = 12
PLAIN = ("value", "depth", "nodes", "seconds")
DIGITS = 6
Series = dict[str, list[float]]  # by name: ply, number, ply, number, ...


def thoughts_on_page(report: Report, first: Callable[[], list[int]]) -> dict[str, object] | None:
    """The names of what was said, and the numbers of the games that come `first` and fit.

    None for a run that kept no thoughts.
    """
    if report.directory is None or not (report.directory / THOUGHTS).exists():
        return None
    order, numbers = first(), dict[int, Series]()
    wanted, names = set(order), dict.fromkeys(PLAIN)
    for game, ply, said in _said(report):
        if game in wanted:
            series = numbers.setdefault(game, {})
            for name, number in said.items():
                if name in names or len(names) < MOST_NAMES:
                    names[name] = None
                    series.setdefault(name, []).extend((ply, number))
    fitting = dict(_fitting(numbers, order))
    shown = [name for name in names if any(name in each for each in fitting.values())]
    return {"names": shown, "games": fitting}


def _said(report: Report) -> Iterator[tuple[int, int, Mapping[str, float]]]:
    """Game, ply and the numbers of every thought."""
    assert report.directory is not None  # asked before
    columns = ("game", "ply", *PLAIN, "data")
    for table in read_lists(report.directory / THOUGHTS, columns):
        for row in zip(*(table[name] for name in columns), strict=True):
            plain = dict(zip(PLAIN, row[2:-1], strict=True))
            said = {name: each for name, each in plain.items() if each is not None}
            yield row[0], row[1], {**_numbers(said), **_numbers(json.loads(row[-1] or "{}"))}


def _numbers(said: Mapping[str, object]) -> dict[str, float]:
    """What of it is a number, in as many digits as a figure shows."""
    found = {}
    for name, value in said.items():
        try:
            number = float(str(value))
        except ValueError:
            continue
        if math.isfinite(number):
            found[name] = float(f"{number:.{DIGITS}g}")
    return found


def _fitting(numbers: Mapping[int, Series], order: list[int]) -> Iterator[tuple[int, Series]]:
    """The first games in this order that fit on a page."""
    left = MOST_NUMBERS
    for game in dict.fromkeys(order):
        if game in numbers:
            left -= sum(map(len, numbers[game].values()))
            if left < 0:
                return
            yield game, numbers[game]
