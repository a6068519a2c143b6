"""Games from GGF, the format of Othello servers: black moves first unless the board says not."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from arena.formats.game_record import (
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
from arena.formats.records import GameRecord
from games import Game
from games.base.errors import printable

PROPERTY = re.compile(r"([A-Z]{1,2})\s*\[([^\]]*)\]")
SCORE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)")
WHITE_TO_MOVE = "O"
OWN_PLACE = "pitflip "
FIRST_MOVER = "FM"  # our own property: B or W is to move after the opening
PASSES = ("pa", "pass")
SIZE = re.compile(r"\s*(\d+)")
LARGEST = 26
SUFFIX = ".ggf"
BLACK, WHITE, EMPTY = "*", "O", "-"
PASS = "pass"
TIMED_OUT = "timeout"
INNOCENT = str.maketrans("[];", "(),")


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
        stopped=bool(more.get("stop_rule")),
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


def refusal(of: Game) -> str | None:
    """Why games of this kind cannot be written; None if they can."""
    if of.package == "games.othello" and not of.rules.adjacency:
        return None
    return f"ggf holds games of Othello by the standard rule, and this run played {of.name}"


def text(each: GameRecord) -> str:
    """One game on one line: its tags, the board of the start, and every move with its mover."""
    fields = (
        ("GM", "Othello"),
        ("PC", f"pitflip {each.run}"),
        ("EV", each.experiment),
        ("DT", each.date),
        ("PB", each.first),
        ("PW", each.second),
        # Some programs refuse a game without ratings; one that is not known is 0.
        *((name, f"{elo or 0.0:.2f}") for name, elo in zip(("RB", "RW"), each.elos, strict=True)),
        ("RE", _result(each)),
        ("TI", "0"),
        ("TY", str(each.of.rules.size)),
        ("ON", each.opening_moves),
        ("FM", "B" if each.first_mover == each.first else "W"),
        ("GC", _more(each)),
        ("BO", _board(each.of)),
    )
    head = "".join(f"{name}[{_escaped(value)}]" for name, value in fields)
    # A pass is a move of its own, so that the sides always take turns.
    moves = "".join(f"{'BW'[ply % 2]}[{_move(word)}]" for ply, word in enumerate(each.moves))
    return f"(;{head}{moves};)\n"


def _more(each: GameRecord) -> str:
    """What GGF has no tag for; names too where GGF cannot hold them."""
    more: dict[str, object] = {
        "pair": each.pair,
        "seed": each.seed,
        "termination": each.ending,
        "first_version": each.versions[0],
        "second_version": each.versions[1],
        "stop_rule": each.stop_rule,
    }
    names = {"first": each.first, "second": each.second}
    more |= {seat: name for seat, name in names.items() if _escaped(name) != name}
    return urlencode({name: value for name, value in more.items() if value != ""})


def _move(word: str) -> str:
    return "pa" if word == PASS else word.upper()


def _result(each: GameRecord) -> str:
    """Black's discs minus White's; a game lost by a fault counts every square."""
    if each.ending == "normal" or each.result == 0.5:
        return f"{each.margin if each.result != 0.5 else 0:+d}.000"
    squares = each.of.rules.cells if each.result == 1.0 else -each.of.rules.cells
    return f"{squares:+d}.000:{'t' if each.ending == TIMED_OUT else 'r'}"


def _board(of: Game) -> str:
    squares, side = of.text(of.start()).split()
    return f"{of.rules.size} {squares} {side}".replace("X", BLACK)


def _escaped(value: str) -> str:
    """The value without the marks of the format: programs read up to the next one of them."""
    return printable(value).translate(INNOCENT)
