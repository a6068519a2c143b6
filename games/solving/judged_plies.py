"""Judged games: what is known about each ply, one row a ply, and how far back."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -(1 << 31)  # in place of a value
NO_MOVE = -1
RESULT_ALONE = 1 << 30  # of an after: 1, 0 or -1 times this is a result whose margin is unknown
UNSIZED_NODES = 200_000  # of a question, where nobody knows what makes a position hard

# A ply: who moves, for which side of the board, beans in play or empty squares, legal moves;
# bounds of the value before, the value after the move, both for the mover; a best move.
PLY = np.dtype(
    [
        ("player", np.int8),
        ("side", np.int8),
        ("left", np.int16),
        ("choices", np.int16),
        ("low", np.int32),
        ("high", np.int32),
        ("after", np.int32),
        ("best", np.int16),
    ]
)
Plies = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """How far back a game is judged: beans or empty squares left, positions a question."""

    last: int | None = None  # None: all
    nodes: int = 100_000_000


class Reached(NamedTuple):
    """How far back a game is judged: the value of the position before ply `ply`, from 0."""

    ply: int
    value: int  # for its mover


class LineJudge(Protocol):
    """Judges written games of one kind of rules."""

    def judged(self, text: str, limits: JudgeLimits, reached: Reached | None) -> Plies:
        """The plies of a game; those before `reached` if that is known already.

        The plies from there on are left unknown.
        """


def first_judged(plies: Plies) -> Reached | None:
    """The first ply from which all are judged without a gap; None if not even the last is."""
    exact = (plies["low"] == plies["high"]) & (plies["low"] != UNKNOWN)
    if not exact.size or not exact[-1]:
        return None
    ply = int(exact.size - np.argmin(exact[::-1])) if not exact.all() else 0
    return Reached(ply, int(plies["low"][ply]))


class Losses(NamedTuple):
    """What each ply cost its mover: margin, result, and whether these are known."""

    margin: NDArray[np.int32]
    result: NDArray[np.int8]
    known: NDArray[np.bool_]
    result_known: NDArray[np.bool_]


def is_margin(after: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the value after a move is known as a margin."""
    return np.isin(after, (UNKNOWN, RESULT_ALONE, -RESULT_ALONE), invert=True)


def losses_of(plies: Plies) -> Losses:
    """The losses of plies; 0 where unknown."""
    low, high, after = plies["low"], plies["high"], plies["after"]
    tried = (after != UNKNOWN) & (low != UNKNOWN)
    known = tried & (low == high) & is_margin(after)
    result_known = tried & (np.sign(low) == np.sign(high))
    margin = np.where(known, low.astype(np.int64) - after, 0).astype(np.int32)
    result = np.where(result_known, np.sign(low) - np.sign(after), 0).astype(np.int8)
    return Losses(margin, result, known, result_known)
