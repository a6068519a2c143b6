"""Schedules by rounds: the results of complete rounds decide the next one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arena.stats.estimate import Estimate
from games.base.schema import KeyValues

Points = NDArray[np.int8]  # of agent `a` in each pair, in quarters from 0 to 4


@dataclass(frozen=True, slots=True)
class RoundsSpec:
    """A schedule by rounds: an entry of `SCHEDULES`, with the values of its keys."""

    method: str
    values: KeyValues

    def to_json(self) -> dict[str, object]:
        """Return the spec as JSON."""
        return {"way": self.method, **values_to_json(self.values)}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "RoundsSpec":
        """Return the spec that `to_json` wrote."""
        return cls(stored["way"], values_from_json(stored, {"way"}))


def values_to_json(values: KeyValues) -> KeyValues:
    """Return the values of keys as JSON has them: lists in place of tuples."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def values_from_json(stored: KeyValues, without: set[str]) -> KeyValues:
    """Return the values that `values_to_json` wrote, without some names."""
    own = {name: value for name, value in stored.items() if name not in without}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}


class Meeting(NamedTuple):
    """Two agents that meet in a round, by their places, and the number of their pairs."""

    a: int  # the smaller place
    b: int
    pairs: int
    opening: int | None = None  # the first opening; None: the first one that they have not played


class StandingRow(NamedTuple):
    """One agent in the standing of a tournament."""

    agent: int
    state: str  # in, out, best, ...
    why: str
    place: int | None = None
    round: int | None = None  # the round in which it went out
    by: int | None = None  # the agent above it
    counts: tuple[int, ...] = ()  # their pairs by the score of `by`: 0, 1/4, 1/2, 3/4, 1
    log_capital: float | None = None  # logarithm of the capital of bets on `by`
    elo: Estimate | None = None  # its rating, if the schedule rates agents itself


@dataclass(frozen=True, slots=True)
class TournamentStanding:
    """The standing of a tournament: the agents, remaining ones first, and its answer so far."""

    schedule: str
    rounds: int
    is_over: bool
    rows: tuple[StandingRow, ...]
    answer: str  # one line
    notes: tuple[str, ...] = ()  # assumptions and limits of the answer
    is_proof: bool = True  # False: a format for fun, which shows nothing

    @property
    def remaining(self) -> list[int]:
        """The agents that are not out."""
        return [row.agent for row in self.rows if row.state != OUT]


IN, OUT = "in", "out"


class Tournament(Protocol):
    """A tournament after some complete rounds. It never changes."""

    @property
    def meetings(self) -> Sequence[Meeting]:
        """The next round; empty if the tournament is over."""

    @property
    def standing(self) -> TournamentStanding:
        """The standing."""

    def after_round(self, points: Sequence[Points]) -> "Tournament":
        """Return the tournament after the next round, given the points of each of its meetings."""


class Participants(NamedTuple):
    """The agents, and the most pairs that two of them can play."""

    names: Sequence[str]
    max_pairs: int
