"""Games from GGF, the format of Othello servers: black moves first unless the board says not."""

import re
from collections.abc import Iterator
from pathlib import Path

from arena.reading.given_game import GivenGame, Unreadable, players, text_of

PROPERTY = re.compile(r"([A-Z]{1,2})\s*\[([^\]]*)\]")
SCORE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)")
BLACK_TO_MOVE = "*"
WHITE_TO_MOVE = "O"
FIRST_MOVER = "FM"  # our own property: B or W is to move after the opening
OURS = "pitflip"


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
            f"{name}{value.partition('/')[0].strip().lower()}"
            for name, value in found
            if name in ("B", "W")
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
    black, white = players(tags["PB"], tags["PW"], place)
    board = " ".join(tags.get("BO", "").split())
    game = f"{tags.get('GM', 'Othello')} {tags.get('TY', '8')}".strip().lower()
    key = (game, black, white, board, *moves) if moves else None
    mover: int | None = 0  # without an opening, the side to move on the board
    if OURS in tags.get("PC", ""):
        mover = {"B": 0, "W": 1}.get(tags.get(FIRST_MOVER, ""))
    if board.endswith(WHITE_TO_MOVE):
        mover = mover if mover is None or FIRST_MOVER not in tags else 1 - mover
        yield GivenGame(game, white, black, 1.0 - score, board, key, mover=mover)
    else:
        yield GivenGame(game, black, white, score, board or None, key, mover=mover)
