"""Schedules by rounds: the results of complete rounds decide the next one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from games.base.schema import KeyValues

Points = NDArray[np.int8]  # of agent `a` in each pairing, in quarters from 0 to 4


@dataclass(frozen=True, slots=True)
class RoundsSpec:
    """A schedule that goes by rounds, with the values of its keys."""

    way: str
    values: KeyValues

    def to_json(self) -> dict[str, object]:
        """The spec as JSON holds it."""
        values = {name: list(v) if isinstance(v, tuple) else v for name, v in self.values.items()}
        return {"way": self.way, **values}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "RoundsSpec":
        """The spec that `to_json` wrote."""
        own = {name: value for name, value in stored.items() if name != "way"}
        return cls(
            stored["way"], {k: tuple(v) if isinstance(v, list) else v for k, v in own.items()}
        )


class Meeting(NamedTuple):
    """Two agents that meet in a round, by their places, `a` the smaller; how often they do.

    They begin with the opening of this number; None: with the first on which they have not met.
    """

    a: int
    b: int
    pairings: int
    opening: int | None = None


class StandingRow(NamedTuple):
    """One agent in the standing of a tournament.

    `round` is the one in which it went out, `by` who is above it, `counts` their pairings by the
    score of `by` (0, 1/4, 1/2, 3/4, 1), `log_capital` what bets on `by` have earned.
    """

    agent: int
    state: str  # a word: in, out, best, ...
    why: str
    place: int | None = None
    round: int | None = None
    by: int | None = None
    counts: tuple[int, ...] = ()
    log_capital: float | None = None


@dataclass(frozen=True, slots=True)
class TournamentStanding:
    """The standing of a tournament: the agents, remaining ones first, and its answer so far."""

    schedule: str
    rounds: int
    over: bool
    rows: tuple[StandingRow, ...]
    answer: str  # one line
    notes: tuple[str, ...] = ()  # assumptions and limits of the answer
    proves: bool = True  # False: a format for fun, nothing is shown

    @property
    def inside(self) -> list[int]:
        """The agents that are not out."""
        return [row.agent for row in self.rows if row.state != OUT]


IN, OUT = "in", "out"


class Tournament(Protocol):
    """A tournament after some complete rounds; it never changes."""

    @property
    def meetings(self) -> Sequence[Meeting]:
        """The next round; empty when the tournament is over."""

    @property
    def standing(self) -> TournamentStanding:
        """The standing."""

    def after(self, points: Sequence[Points]) -> "Tournament":
        """The tournament after the next round, given the points of each of its meetings."""


class Participants(NamedTuple):
    """The agents, and the most pairs that two of them can play."""

    names: Sequence[str]
    limit: int
