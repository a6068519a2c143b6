"""One game from another program or an earlier run, whatever the format of its file."""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena.planning.games import Termination
from games import GAME_FILE, GameError, game
from games.base.errors import UserError
from games.base.text import quote

LONGEST_NAME = 200
MOST_BYTES = 1 << 30
MOST_DIGITS = 20  # of a number of 64 bits
UNKNOWN = "unknown"  # the game that a file does not name
SCORES = {
    "1": 1.0, "1.0": 1.0, "1-0": 1.0, "win": 1.0, "w": 1.0,
    "0.5": 0.5, ".5": 0.5, "1/2": 0.5, "1/2-1/2": 0.5, "0.5-0.5": 0.5, "½": 0.5, "½-½": 0.5,
    "draw": 0.5, "d": 0.5, "=": 0.5,
    "0": 0.0, "0.0": 0.0, "0-1": 0.0, "loss": 0.0, "l": 0.0,
}  # fmt: skip
KNOWN = "1, 1/2, 0, 1-0, 1/2-1/2, 0-1, win, draw or loss"


class Unreadable(UserError, ValueError):  # noqa: N818  # the glossary's word for a file nobody can read
    """A file without results we understand; one line with its place."""


class NamedAgent(NamedTuple):
    """An agent as a file names it; `version` is a fingerprint, empty if there is none."""

    name: str
    version: str = ""


class GivenGame(NamedTuple):
    """One game: its agents, the score of `first` from 0 to 1, and what else is known of it.

    `first` and `second` are the sides 0 and 1. `mover` is the first mover, the agent to move after
    the opening: 0 `first`, 1 `second`, None if the file does not say.
    `opening` is shared by games that are not independent, None if it is not known. `line` stands
    for the start and all moves (`line_of`), `game_id` for the moves in a table of ours, which may
    not keep them. `seed` tells equal games of agents that use chance apart, None if it is not
    known. `pairing` is shared by the two games of a pairing. `fault`: 0 ended without one, 1 lost
    by `first`, -1 by `second`. `row` is its place in the table of a run, None in other files.
    `unearned`: both agents were excluded before, so neither has a point for the game.
    `stopped` is whether a sequential test decided how many games the run has.
    `arena.pipeline.external_games` says which games are the same.
    """

    game: str
    first: NamedAgent
    second: NamedAgent
    score: float
    opening: Hashable | None = None
    line: int | None = None
    game_id: int | None = None
    seed: int | None = None
    pairing: Hashable | None = None
    fault: int = 0
    row: int | None = None
    mover: int | None = 0
    unearned: bool = False
    stopped: bool = False


def fen_side(start: str) -> str | None:
    """Return the side to move in a FEN, "w" or "b"; None if the text is not a FEN."""
    fields = start.split()
    return fields[1] if len(fields) > 1 and "/" in fields[0] and fields[1] in "wb" else None


def mover_named(name: str, players: Sequence[NamedAgent], place: str) -> int | None:
    """Return which of both players a file names as first mover; None if it names nobody."""
    names = [player.name for player in players]
    if name and name not in names:
        both = " or ".join(map(quote, names))
        raise Unreadable(f"{place}: the first mover must be {both}, got {quote(name)}")
    return names.index(name) if name else None


def line_of(words: Iterable[str], start: str = "", seed: int | None = None) -> int | None:
    """A number for the moves of a game from a start; None if they are too few to recognise it.

    `start` is empty for the position before the first move. Games with a seed need no moves.
    """
    moves = list(words)
    if len(moves) < 2 and seed is None:
        return None
    text = "\n".join((start, *moves))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@cache
def game_name(text: str) -> str:
    """The name by which games are kept apart: ours as we write it, any other as it is."""
    if GAME_FILE.search(text):
        return text  # a user's file, which is not run only because a table names it
    try:
        return game(text).name
    except GameError:
        return text


def pairing_of(run: str, pair: str, first: int = 0) -> Hashable | None:
    """A pairing by its run and its number, counted from `first`; None if either is unknown."""
    number = _whole_number(pair)
    return None if not run or number is None else (run, number - first)


def seed_in(text: str) -> int | None:
    """The seed that a file gives for a game; None if it gives none."""
    return _whole_number(text)


def _whole_number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def fault_of(termination: str, score: float) -> int:
    """1 if `first` lost by its fault, -1 if `second` did, else 0."""
    how = Termination.__members__.get(termination.upper())
    if how is None or how.fair or score == 0.5:
        return 0
    return 1 if score == 0.0 else -1


def score_of(word: str, place: str) -> float:
    """The score of `first` that a word means; Unreadable if it means none."""
    score = SCORES.get(word.strip().lower())
    if score is None:
        raise Unreadable(f"{place}: the first mover's result must be {KNOWN}, got {quote(word)}")
    return score


def players(
    first: str, second: str, place: str, versions: tuple[str, str] = ("", "")
) -> tuple[NamedAgent, NamedAgent]:
    """Two agents of different names; Unreadable if the names are not."""
    if not first or not second or first == second:
        both = f"{quote(first)} and {quote(second)}"
        raise Unreadable(f"{place}: a game needs two different names, got {both}")
    for name in (first, second):
        if len(name) > LONGEST_NAME:
            found = f"one of {len(name):,}"
            raise Unreadable(f"{place}: a name has at most {LONGEST_NAME} letters, got {found}")
    return NamedAgent(first, versions[0]), NamedAgent(second, versions[1])


def text_of(file: Path) -> str:
    """A whole text, UTF-8 or, where it is not that, Latin-1; Unreadable if it is too long."""
    if (size := file.stat().st_size) > MOST_BYTES:
        raise Unreadable(f"{file}: a file has at most {MOST_BYTES:,} bytes, got {size:,}")
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
