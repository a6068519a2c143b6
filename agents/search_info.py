"""Search information that agents report about a move."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agents.core import Choice
from games import Game, Position
from games.base.errors import printable

MOST_NAMES = 16  # per move
LONGEST_NAME, LONGEST_TEXT = 32, 80  # characters
LONGEST_LINE = 64  # plies
MOST = 2**53  # the largest whole number in a bot's data
NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")
# `data name = value`, after the number of a command if the protocol has one.
DATA = re.compile(
    rf"(?:[0-9]{{1,15}}(?:@[0-9]{{1,15}})?\s+)?data\s+({NAME.pattern})\s*=\s*(.*)", re.DOTALL
)
NO_DATA: Mapping[str, str] = {}


class SearchInfo(NamedTuple):
    """Information about one choice: `value` for the mover; depth 200 means the end of the game."""

    value: float | None = None
    depth: int | None = None
    nodes: int | None = None
    line: str = ""
    data: Mapping[str, str] = NO_DATA


def info_from_choice(game: Game, position: Position, choice: Choice) -> SearchInfo | None:
    """Return the information about a choice; None if it was made without a search."""
    if choice.value is None:
        return None
    words = []
    for move in choice.line[:LONGEST_LINE]:
        words.append(game.move_text(position, move))
        position = game.play(position, move)
    return SearchInfo(choice.value, choice.depth, choice.nodes, " ".join(words))


def parse_data_line(line: str) -> tuple[str, str] | None:
    """Return name and value of a line `data name = value`; None for other lines."""
    found = DATA.fullmatch(line)
    return found and (found[1], found[2])


def limit_data(data: Iterable[tuple[object, object]]) -> dict[str, str]:
    """Return a bot's data, printable and truncated; the last value of a name counts."""
    limited: dict[str, str] = {}
    for name, value in data:
        fits = name in limited or len(limited) < MOST_NAMES
        if fits and isinstance(name, str) and NAME.fullmatch(name):
            limited[name] = printable(str(value)[: 4 * LONGEST_TEXT])[:LONGEST_TEXT]
    return limited


def info_from_data(data: Mapping[str, str]) -> SearchInfo | None:
    """Return the information in a bot's data; value, depth, nodes and line have columns."""
    if not data:
        return None
    rest = dict(data)
    value, depth, nodes = (_number(rest, name) for name in ("value", "depth", "nodes"))
    line = rest.pop("line", "")
    return SearchInfo(value, _whole_number(depth), _whole_number(nodes), line, rest)


def _number(data: dict[str, str], name: str) -> float | None:
    """Remove and return the number with this name; None if there is none."""
    try:
        number = float(data.get(name, ""))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    del data[name]
    return number


def _whole_number(number: float | None) -> int | None:
    return None if number is None else int(max(-MOST, min(MOST, number)))
