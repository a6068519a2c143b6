"""GGF, the format of Othello servers: games."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from arena.formats.records import (
    ExternalGame,
    FormatError,
    GameRecord,
    fault_side,
    game_name,
    hash_moves,
    make_agents,
    pair_key,
    parse_number,
    read_text,
)
from games import Game
from games.base.errors import printable

PROPERTY = re.compile(r"([A-Z]{1,2})\s*\[([^\]]*)\]")
SCORE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)")
WHITE_TO_MOVE = "O"
OWN_PLACE = "pitflip "
FIRST_MOVER = "FM"  # our property: the colour to move after the opening
PASSES = ("pa", "pass")
SIZE = re.compile(r"\s*(\d+)")
LARGEST = 26
SUFFIX = ".ggf"
TIMED_OUT = "timeout"
REPLACEMENTS = str.maketrans("[];", "(),")


def read_games(file: Path) -> Iterator[ExternalGame]:
    """Return the finished games of a file."""
    text, at, line = read_text(file), 0, 1
    while (begin := text.find("(;", at)) >= 0:
        end = text.find(";)", begin)
        if end < 0:
            return  # the file is cut off
        line += text.count("\n", at, begin)
        found = PROPERTY.findall(text[begin + 2 : end])
        tags = {name: value.strip() for name, value in found if name not in ("B", "W")}
        moves = [
            value.partition("/")[0].strip().lower() for name, value in found if name in ("B", "W")
        ]
        yield from _game(f"{file}:{line}", tags, moves)
        line += text.count("\n", begin, end)
        at = end


def _game(place: str, tags: dict[str, str], moves: list[str]) -> Iterator[ExternalGame]:
    missing = [name for name in ("PB", "PW", "RE") if name not in tags]
    if missing:
        raise FormatError(f"{place}: the game has no {missing[0]}[]")
    result = SCORE.match(tags["RE"])
    if result is None:
        if tags["RE"].startswith("?") or not tags["RE"]:
            return  # unfinished
        raise FormatError(f"{place}: RE must begin with a score of black, got {tags['RE'][:80]!r}")
    margin = float(result[1])
    score = 0.5 if margin == 0.0 else float(margin > 0.0)
    ours = tags.get("PC", "").startswith(OWN_PLACE)
    more = dict(parse_qsl(tags.get("GC", ""))) if ours else {}
    names = (more.get("first", tags["PB"]), more.get("second", tags["PW"]))
    versions = more.get("first_version", ""), more.get("second_version", "")
    black, white = make_agents(*names, place, versions)
    board = " ".join(tags.get("BO", "").split())
    usual = board in ("", usual_board(tags.get("TY", "")))
    seed = parse_number(more.get("seed", ""))
    words = ["pass" if move in PASSES else move for move in moves]
    line = hash_moves(words, "" if usual else board, seed)
    first, second, colours = black, white, "BW"
    if board.endswith(WHITE_TO_MOVE):
        first, second, score, colours = white, black, 1.0 - score, "WB"
    mover: int | None = 0  # games of other programs have no opening before the board
    if ours:
        mover = {colour: side for side, colour in enumerate(colours)}.get(tags.get(FIRST_MOVER, ""))
    yield ExternalGame(
        _name(tags), first, second, score, tags.get("ON") if ours else board or None, line,
        seed=seed, pair=pair_key(tags["PC"].removeprefix(OWN_PLACE), more.get("pair", ""))
        if ours else None,
        fault=fault_side(more.get("termination", ""), score), first_mover=mover,
        has_stop_rule=bool(more.get("stop_rule")),
    )  # fmt: skip


def _name(tags: dict[str, str]) -> str:
    """Return our name of the game; servers write a letter after the size, as in "8r"."""
    name, size = tags.get("GM", "Othello").strip(), SIZE.match(tags.get("TY", "8"))
    return game_name(f"{name}({size[1]})".lower() if size else name)


def usual_board(size: str) -> str:
    """Return the start of the game as the tag BO has it; empty for a wrong size."""
    if not size.isdecimal() or not 4 <= int(size) <= LARGEST:
        return ""
    side = int(size)
    cells, middle = ["-"] * (side * side), side // 2
    for row, column, disc in ((-1, -1, "O"), (-1, 0, "*"), (0, -1, "*"), (0, 0, "O")):
        cells[(middle + row) * side + middle + column] = disc
    return f"{side} {''.join(cells)} *"


def refusal(game: Game) -> str | None:
    """Return why games of this kind cannot be written; None if they can."""
    if game.package == "games.othello" and not game.rules.adjacency:
        return None
    return f"ggf holds games of Othello by the standard rule, and this run played {game.name}"


def game_text(record: GameRecord) -> str:
    """Return a game as one line of tags, the start and every move with its colour."""
    fields = (
        ("GM", "Othello"),
        ("PC", f"pitflip {record.run}"),
        ("EV", record.experiment),
        ("DT", record.date),
        ("PB", record.first),
        ("PW", record.second),
        # Some programs refuse a game without ratings: an unknown rating is 0.
        *((name, f"{elo or 0.0:.2f}") for name, elo in zip(("RB", "RW"), record.elos, strict=True)),
        ("RE", _result(record)),
        ("TI", "0"),
        ("TY", str(record.game.rules.size)),
        ("ON", record.opening_moves),
        (FIRST_MOVER, "B" if record.first_mover == record.first else "W"),
        ("GC", _comment(record)),
        ("BO", _board(record.game)),
    )
    head = "".join(f"{name}[{_escape(value)}]" for name, value in fields)
    # Passes are moves, so colours alternate.
    moves = "".join(f"{'BW'[ply % 2]}[{_move(word)}]" for ply, word in enumerate(record.moves))
    return f"(;{head}{moves};)\n"


def _comment(record: GameRecord) -> str:
    """Return values without a tag of GGF, and names that GGF cannot hold."""
    more: dict[str, object] = {
        "pair": record.pair,
        "seed": record.seed,
        "termination": record.ending,
        "first_version": record.versions[0],
        "second_version": record.versions[1],
        "stop_rule": record.stop_rule,
    }
    names = {"first": record.first, "second": record.second}
    more |= {seat: name for seat, name in names.items() if _escape(name) != name}
    return urlencode({name: value for name, value in more.items() if value != ""})


def _move(word: str) -> str:
    return "pa" if word == "pass" else word.upper()


def _result(record: GameRecord) -> str:
    """Return Black's discs minus White's; all squares for a game lost by a fault."""
    if record.ending == "normal" or record.result == 0.5:
        return f"{record.margin if record.result != 0.5 else 0:+d}.000"
    squares = record.game.rules.cells if record.result == 1.0 else -record.game.rules.cells
    return f"{squares:+d}.000:{'t' if record.ending == TIMED_OUT else 'r'}"


def _board(game: Game) -> str:
    squares, side = game.text(game.start()).split()
    return f"{game.rules.size} {squares} {side}".replace("X", "*")


def _escape(value: str) -> str:
    """Replace the delimiters of the format, which has no escapes."""
    return printable(value).translate(REPLACEMENTS)
