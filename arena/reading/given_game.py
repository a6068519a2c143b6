"""One game from outside, whatever file it was in."""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

from games.names import quoted
from games.terminal import Mistake

UNKNOWN = "unknown"  # the game that a file does not name
LONGEST_NAME = 200
MOST_BYTES = 1 << 30
SCORES = {
    "1": 1.0, "1.0": 1.0, "1-0": 1.0, "win": 1.0, "w": 1.0,
    "0.5": 0.5, ".5": 0.5, "1/2": 0.5, "1/2-1/2": 0.5, "0.5-0.5": 0.5, "½": 0.5, "½-½": 0.5,
    "draw": 0.5, "d": 0.5, "=": 0.5,
    "0": 0.0, "0.0": 0.0, "0-1": 0.0, "loss": 0.0, "l": 0.0,
}  # fmt: skip
KNOWN = "1, 1/2, 0, 1-0, 1/2-1/2, 0-1, win, draw or loss"


class Unreadable(Mistake, ValueError):  # noqa: N818  # the glossary's word for a file nobody can read
    """A file without results we understand; one line with its place."""


class NamedAgent(NamedTuple):
    """An agent as a file names it; `version` is a fingerprint, empty if there is none."""

    name: str
    version: str = ""


class GivenGame(NamedTuple):
    """One game: its agents, the score of `first` from 0 to 1, what else is known of it.

    `mover` is the first mover, the agent to move after the opening: 0 `first`, 1 `second`, None
    if the file does not say.
    `opening` is what games that are not independent share, None if it is not known. Games of
    equal `key` are one; without a key the whole file counts once. `pairing` is shared by the two
    games of a pairing. `fault`: 0 ended without one, 1 lost by `first`, -1 by `second`.
    `row` is its place in the table of a run, None in other files.
    """

    game: str
    first: NamedAgent
    second: NamedAgent
    score: float
    opening: Hashable | None = None
    key: Hashable | None = None
    pairing: Hashable | None = None
    fault: int = 0
    row: int | None = None
    mover: int | None = 0


def fen_side(start: str) -> str | None:
    """Return the side to move in a FEN, "w" or "b"; None if the text is not a FEN."""
    fields = start.split()
    return fields[1] if len(fields) > 1 and "/" in fields[0] and fields[1] in "wb" else None


def mover_named(name: str, players: Sequence[NamedAgent], place: str) -> int | None:
    """Return which of both players a file names as first mover; None if it names nobody."""
    names = [player.name for player in players]
    if name and name not in names:
        both = " or ".join(map(quoted, names))
        raise Unreadable(f"{place}: the first mover must be {both}, got {quoted(name)}")
    return names.index(name) if name else None


def score_of(word: str, place: str) -> float:
    """The first mover's score that a word means; Unreadable if it means none."""
    score = SCORES.get(word.strip().lower())
    if score is None:
        raise Unreadable(f"{place}: the first mover's result must be {KNOWN}, got {quoted(word)}")
    return score


def players(first: str, second: str, place: str) -> tuple[NamedAgent, NamedAgent]:
    """Two different names; Unreadable if they are not."""
    if not first or not second or first == second:
        both = f"{quoted(first)} and {quoted(second)}"
        raise Unreadable(f"{place}: a game needs two different names, got {both}")
    for name in (first, second):
        if len(name) > LONGEST_NAME:
            found = f"one of {len(name):,}"
            raise Unreadable(f"{place}: a name has at most {LONGEST_NAME} letters, got {found}")
    return NamedAgent(first), NamedAgent(second)


def text_of(file: Path) -> str:
    """A whole text, UTF-8 or, where it is not that, Latin-1; Unreadable if it is too long."""
    if (size := file.stat().st_size) > MOST_BYTES:
        raise Unreadable(f"{file}: a file has at most {MOST_BYTES:,} bytes, got {size:,}")
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
