"""Search information that agents report about a move."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agents.core import Choice
from games import Game, Position
from games.base.errors import printable

MOST_NAMES = 16  # that a bot may use for one move
LONGEST_NAME, LONGEST_TEXT = 32, 80  # characters
LONGEST_LINE = 64  # plies
MOST = 2**53  # of whole numbers that a bot says of itself
NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")
# `data name = value`, after the number of a command where a protocol has such.
DATA = re.compile(
    rf"(?:[0-9]{{1,15}}(?:@[0-9]{{1,15}})?\s+)?data\s+({NAME.pattern})\s*=\s*(.*)", re.DOTALL
)
NOTHING: Mapping[str, str] = {}


class SearchInfo(NamedTuple):
    """What is known of one choice; `value` is seen by whoever moves, a depth of 200 is the end."""

    value: float | None = None
    depth: int | None = None
    nodes: int | None = None
    line: str = ""
    data: Mapping[str, str] = NOTHING


def info_from_choice(of: Game, position: Position, choice: Choice) -> SearchInfo | None:
    """The thought behind the choice of a search; None if it was no search."""
    if choice.value is None:
        return None
    words = []
    for move in choice.line[:LONGEST_LINE]:
        words.append(of.move_text(position, move))
        position = of.play(position, move)
    return SearchInfo(choice.value, choice.depth, choice.nodes, " ".join(words))


def parse_data_line(line: str) -> tuple[str, str] | None:
    """The name and the value in a bot's line `data name = value`; None if it is another line."""
    found = DATA.fullmatch(line)
    return found and (found[1], found[2])


def limit_data(said: Iterable[tuple[object, object]]) -> dict[str, str]:
    """What a bot says, printable and cut; the last value of a name counts."""
    found: dict[str, str] = {}
    for name, value in said:
        room = name in found or len(found) < MOST_NAMES
        if room and isinstance(name, str) and NAME.fullmatch(name):
            found[name] = printable(str(value)[: 4 * LONGEST_TEXT])[:LONGEST_TEXT]
    return found


def info_from_data(said: Mapping[str, str]) -> SearchInfo | None:
    """The thought that a bot tells: value, depth, nodes and line have columns of their own."""
    if not said:
        return None
    rest = dict(said)
    value, depth, nodes = (_number(rest, name) for name in ("value", "depth", "nodes"))
    line = rest.pop("line", "")
    return SearchInfo(value, _whole(depth), _whole(nodes), line, rest)


def _number(said: dict[str, str], name: str) -> float | None:
    """The number under a name, which is then taken out; None if there is none."""
    try:
        number = float(said.get(name, ""))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    del said[name]
    return number


def _whole(number: float | None) -> int | None:
    return None if number is None else int(max(-MOST, min(MOST, number)))
