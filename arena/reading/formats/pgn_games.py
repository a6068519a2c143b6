"""Games from PGN: the tags of each game, its moves to know it again."""

import re
from collections.abc import Iterator
from pathlib import Path

from arena.reading.given_game import (
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    fen_side,
    mover_named,
    players,
    score_of,
    text_of,
)

UNFINISHED = "*"
COMMENT = re.compile("[{;]")
TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
NUMBERS = re.compile(r"\d+\.+|\$\d+|[!?]+")
RESULTS = ("1-0", "0-1", "1/2-1/2", UNFINISHED)
# A tag of one of these names begins a game where the one before has a result already.
BEGINNING = ("Event", "White")
NEEDED = ("White", "Black", "Result")


def games_in(file: Path) -> Iterator[GivenGame]:
    """The finished games; tags count at the start of a line only, never inside a comment."""
    tags: dict[str, str] = {}
    moves: list[str] = []
    inside = False  # of a comment in braces, which may go on for lines
    for number, line in enumerate(text_of(file).splitlines(), 1):
        found = None if inside else _tags(line)
        if found is None:
            words, inside = _without_comments(line, inside)
            moves += words
            continue
        for name, value in found:
            if tags and (moves or (name in BEGINNING and name in tags)):
                yield from _game(f"{file}:{number}", tags, moves)
                tags, moves = {}, []
            tags[name] = value
    if tags:
        yield from _game(str(file), tags, moves)


def _tags(line: str) -> list[tuple[str, str]] | None:
    """The tags of a line that has nothing else; None for moves and blank lines."""
    at, found = 0, []
    while match := TAG.match(line, at):
        found.append((match[1], match[2]))
        at = match.end()
    return found if found and at == len(line) else None


def _without_comments(line: str, inside: bool) -> tuple[list[str], bool]:
    """The words of a line outside comments, and whether one is open at its end."""
    kept: list[str] = []
    at = 0
    while at < len(line):
        if inside:
            end = line.find("}", at)
            if end < 0:
                return "".join(kept).split(), True
            at, inside = end + 1, False
        elif line[at] == ";":
            break
        elif line[at] == "{":
            kept.append(" ")
            at, inside = at + 1, True
        else:
            comment = COMMENT.search(line, at)
            end = comment.start() if comment else len(line)
            kept.append(line[at:end])
            at = end
    words = NUMBERS.sub(" ", "".join(kept)).split()
    return [word for word in words if word not in RESULTS], inside


def _game(place: str, tags: dict[str, str], moves: list[str]) -> Iterator[GivenGame]:
    missing = [name for name in NEEDED if name not in tags]
    if missing:
        raise Unreadable(f"{place}: the game before this line has no {missing[0]} tag")
    if tags["Result"] == UNFINISHED:
        return
    first, second = players(tags["White"].strip(), tags["Black"].strip(), place)
    game = tags.get("Variant") or tags.get("GameType") or UNKNOWN
    opening = tags.get("FEN") or tags.get("Opening") or None
    score = score_of(tags["Result"], place)
    # A game of a move or none cannot be known again: then its file counts once.
    key = (game, first, second, opening, score, " ".join(moves)) if len(moves) > 1 else None
    mover = _mover(place, tags, (first, second), " ".join(moves))
    yield GivenGame(game, first, second, score, opening, key, mover=mover)


def _mover(
    place: str, tags: dict[str, str], players: tuple[NamedAgent, NamedAgent], moves: str
) -> int | None:
    """Return who was to move after the opening: White, where no tag says otherwise."""
    if "FirstMover" in tags:
        return mover_named(tags["FirstMover"].strip(), players, place)
    if "FEN" in tags:
        side = fen_side(tags["FEN"])
        return None if side is None else int(side == "b")
    # An opening in moves, as earlier versions of ours exported it, may end with either to move.
    opening = " ".join(tags.get("Opening", "").split())
    return None if opening and moves.startswith(opening) else 0
