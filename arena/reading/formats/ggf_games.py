"""Games from GGF, the format of Othello servers: black moves first unless the board says not."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

from arena.reading.given_game import (
    GivenGame,
    Unreadable,
    fault_of,
    game_name,
    line_of,
    pairing_of,
    players,
    seed_in,
    text_of,
)

PROPERTY = re.compile(r"([A-Z]{1,2})\s*\[([^\]]*)\]")
SCORE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)")
BLACK_TO_MOVE = "*"
WHITE_TO_MOVE = "O"
OWN_PLACE = "pitflip "
FIRST_MOVER = "FM"  # our own property: B or W is to move after the opening
PASSES = ("pa", "pass")
SIZE = re.compile(r"\s*(\d+)")
LARGEST = 26


def games_in(file: Path) -> Iterator[GivenGame]:
    """The finished games of a file."""
    text, at, line = text_of(file), 0, 1
    while (begin := text.find("(;", at)) >= 0:
        end = text.find(";)", begin)
        if end < 0:
            return  # cut off: the game is not finished
        line += text.count("\n", at, begin)
        found = PROPERTY.findall(text[begin + 2 : end])
        tags = {name: value.strip() for name, value in found if name not in ("B", "W")}
        moves = [
            value.partition("/")[0].strip().lower() for name, value in found if name in ("B", "W")
        ]
        yield from _game(f"{file}:{line}", tags, moves)
        line += text.count("\n", begin, end)
        at = end


def _game(place: str, tags: dict[str, str], moves: list[str]) -> Iterator[GivenGame]:
    missing = [name for name in ("PB", "PW", "RE") if name not in tags]
    if missing:
        raise Unreadable(f"{place}: the game has no {missing[0]}[]")
    result = SCORE.match(tags["RE"])
    if result is None:
        if tags["RE"].startswith("?") or not tags["RE"]:
            return  # unfinished
        raise Unreadable(f"{place}: RE must begin with a score of black, got {tags['RE'][:80]!r}")
    margin = float(result[1])
    score = 0.5 if margin == 0.0 else float(margin > 0.0)
    ours = tags.get("PC", "").startswith(OWN_PLACE)
    more = dict(parse_qsl(tags.get("GC", ""))) if ours else {}
    names = (more.get("first", tags["PB"]), more.get("second", tags["PW"]))
    versions = more.get("first_version", ""), more.get("second_version", "")
    black, white = players(*names, place, versions)
    board = " ".join(tags.get("BO", "").split())
    usual = board in ("", usual_board(tags.get("TY", "")))
    seed = seed_in(more.get("seed", ""))
    words = ["pass" if move in PASSES else move for move in moves]
    line = line_of(words, "" if usual else board, seed)
    first, second, colours = black, white, "BW"
    if board.endswith(WHITE_TO_MOVE):
        first, second, score, colours = white, black, 1.0 - score, "WB"
    mover: int | None = 0  # games of other programs have no opening before the board
    if ours:
        mover = {colour: side for side, colour in enumerate(colours)}.get(tags.get(FIRST_MOVER, ""))
    yield GivenGame(
        _name(tags), first, second, score, tags.get("ON") if ours else board or None, line,
        seed=seed, pairing=pairing_of(tags["PC"].removeprefix(OWN_PLACE), more.get("pair", ""))
        if ours else None,
        fault=fault_of(more.get("termination", ""), score), mover=mover,
    )  # fmt: skip


def _name(tags: dict[str, str]) -> str:
    """Our name of the game; a letter after the size, as in "8r", is how servers begin it."""
    name, size = tags.get("GM", "Othello").strip(), SIZE.match(tags.get("TY", "8"))
    return game_name(f"{name}({size[1]})".lower() if size else name)


def usual_board(size: str) -> str:
    """The board before the first move as BO writes it; empty if the size is none."""
    if not size.isdecimal() or not 4 <= int(size) <= LARGEST:
        return ""
    side = int(size)
    cells, middle = ["-"] * (side * side), side // 2
    for row, column, disc in ((-1, -1, "O"), (-1, 0, "*"), (0, -1, "*"), (0, 0, "O")):
        cells[(middle + row) * side + middle + column] = disc
    return f"{side} {''.join(cells)} *"
