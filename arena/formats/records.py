"""Games and tables as plain values, which readers of formats return and writers get."""

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena.planning.games import Termination
from games import GAME_FILE, Game, GameError, game
from games.base.errors import UserError
from games.base.text import quote

LONGEST_NAME = 200
MAX_BYTES = 1 << 30
MAX_DIGITS = 20  # of a number of 64 bits
UNKNOWN = "unknown"  # the game if a file does not name it
SCORES = {
    "1": 1.0, "1.0": 1.0, "1-0": 1.0, "win": 1.0, "w": 1.0,
    "0.5": 0.5, ".5": 0.5, "1/2": 0.5, "1/2-1/2": 0.5, "0.5-0.5": 0.5, "½": 0.5, "½-½": 0.5,
    "draw": 0.5, "d": 0.5, "=": 0.5,
    "0": 0.0, "0.0": 0.0, "0-1": 0.0, "loss": 0.0, "l": 0.0,
}  # fmt: skip
KNOWN_SCORES = "1, 1/2, 0, 1-0, 1/2-1/2, 0-1, win, draw or loss"
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game of a run; `result` and `margin` are those of the agent `first`."""

    experiment: str
    run: str
    date: str  # when the run ended, such as 2026.11.19
    game: Game
    number: int
    pair: int
    leg: int
    first: str
    second: str
    first_mover: str  # the agent to move after the opening
    result: float
    margin: int
    plies: int
    opening: int
    opening_moves: str
    moves: tuple[str, ...]
    ending: str
    seed: int  # of the pair
    versions: tuple[str, str]  # fingerprints of both agents, empty if unknown
    elos: tuple[float | None, float | None] = (None, None)  # of both, where the run has ratings
    stop_rule: str = ""  # the sequential test that could end the run early


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; the first `text_columns` columns are texts and the others numbers."""

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    text_columns: int = 1


# ------------------------------------------------------------------------- games of others


class FormatError(UserError, ValueError):
    """A file of games that cannot be read; one line with the place in the file."""


class NamedAgent(NamedTuple):
    """An agent as a file names it; `version` is a fingerprint, empty if there is none."""

    name: str
    version: str = ""


class ExternalGame(NamedTuple):
    """One game from a file: its agents, the score of `first` from 0 to 1, and more if known.

    `first` and `second` are the sides 0 and 1. `arena.pipeline.external_games` finds equal games.
    """

    game: str
    first: NamedAgent
    second: NamedAgent
    score: float
    opening: Hashable | None = None  # shared by games that are not independent
    moves_hash: int | None = None  # of the start and all moves (`hash_moves`)
    game_id: int | None = None  # of the moves in games.parquet, which may not keep the moves
    seed: int | None = None  # distinguishes games of agents that use chance
    pair: Hashable | None = None  # shared by both games of a pair
    fault: int = 0  # 1: `first` lost by a fault, -1: `second` did
    row: int | None = None  # in games.parquet
    first_mover: int | None = 0  # the side to move after the opening
    both_excluded: bool = False  # both agents were excluded before: neither gets a point
    has_stop_rule: bool = False  # a sequential test decided the number of games


def fen_side(start: str) -> str | None:
    """Return the side to move in a FEN, "w" or "b"; None if the text is not a FEN."""
    fields = start.split()
    return fields[1] if len(fields) > 1 and "/" in fields[0] and fields[1] in "wb" else None


def first_mover_side(name: str, agents: Sequence[NamedAgent], place: str) -> int | None:
    """Return the side of the first mover by its name; None if the name is empty."""
    names = [agent.name for agent in agents]
    if name and name not in names:
        both = " or ".join(map(quote, names))
        raise FormatError(f"{place}: the first mover must be {both}, got {quote(name)}")
    return names.index(name) if name else None


def hash_moves(moves: Iterable[str], start: str = "", seed: int | None = None) -> int | None:
    """Return a number by which equal games are recognised; None if the moves are too few.

    `start` is empty for the usual start of the game. Games with a seed need no moves.
    """
    moves = list(moves)
    if len(moves) < 2 and seed is None:
        return None
    text = "\n".join((start, *moves))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@cache
def game_name(text: str) -> str:
    """Return our name of a game; the name of an unknown game does not change."""
    if GAME_FILE.search(text):
        return text  # a user's file is not run only because a table names it
    try:
        return game(text).name
    except GameError:
        return text


def pair_key(run: str, pair: str, first: int = 0) -> Hashable | None:
    """Return a key of a pair; None without a run or a number, which counts from `first`."""
    number = parse_number(pair)
    return None if not run or number is None else (run, number - first)


def parse_number(text: str) -> int | None:
    """Return the whole number that a text is, such as a seed; None if it is none."""
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else None


def fault_side(termination: str, score: float) -> int:
    """Return 1 if `first` lost by its fault, -1 if `second` did, else 0."""
    how = Termination.__members__.get(termination.upper())
    if how is None or how.is_fair or score == 0.5:
        return 0
    return 1 if score == 0.0 else -1


def parse_score(text: str, place: str) -> float:
    """Return the score of `first`."""
    score = SCORES.get(text.strip().lower())
    if score is None:
        message = f"the first mover's result must be {KNOWN_SCORES}, got {quote(text)}"
        raise FormatError(f"{place}: {message}")
    return score


def make_agents(
    first: str, second: str, place: str, versions: tuple[str, str] = ("", "")
) -> tuple[NamedAgent, NamedAgent]:
    """Return the two agents of a game, whose names must differ."""
    if not first or not second or first == second:
        both = f"{quote(first)} and {quote(second)}"
        raise FormatError(f"{place}: a game needs two different names, got {both}")
    for name in (first, second):
        if len(name) > LONGEST_NAME:
            found = f"one of {len(name):,}"
            raise FormatError(f"{place}: a name has at most {LONGEST_NAME} letters, got {found}")
    return NamedAgent(first, versions[0]), NamedAgent(second, versions[1])


def read_text(file: Path) -> str:
    """Read a text file as UTF-8, or as Latin-1 if it is not UTF-8."""
    if (size := file.stat().st_size) > MAX_BYTES:
        raise FormatError(f"{file}: a file has at most {MAX_BYTES:,} bytes, got {size:,}")
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
