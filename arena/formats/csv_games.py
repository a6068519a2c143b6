"""Games as CSV, one line for each game, with all that `pitflip rate` needs to recognise it."""

import csv
import io
from collections.abc import Sequence

from arena.formats.records import GameRecord

SUFFIX = ".csv"
COLUMNS = (
    "number", "game", "run", "pair", "leg", "first", "second", "first_mover", "result",
    "margin", "plies", "termination", "opening_moves", "seed", "first_version", "second_version",
    "stop_rule", "moves",
)  # fmt: skip


def line(cells: Sequence[object]) -> str:
    """One line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


HEAD = line(COLUMNS)


def text(each: GameRecord) -> str:
    """One game."""
    return line(
        (
            each.number, each.of.name, each.run, each.pair, each.leg, each.first, each.second,
            each.first_mover, each.result, each.margin, each.plies, each.ending, each.opening_moves,
            each.seed, *each.versions, each.stop_rule, " ".join(each.moves),
        )
    )  # fmt: skip
