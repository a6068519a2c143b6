"""Thinking time per agent and opponent."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from arena.planning.games import GameColumn, Games

SUMMED = ("games", "moves", "nodes", "nanoseconds", "lag")
MOST = ("longest", "turn")


class Timing(NamedTuple):
    """What the moves that `agent` chose against `opponent` cost; None without a move or a time."""

    agent: str
    opponent: str
    games: int
    moves: int
    nodes: int
    seconds: float
    seconds_per_move: float | None
    nodes_per_move: float | None
    nodes_per_second: float | None
    longest_move: float | None  # seconds; None where games are timed as a whole
    longest_turn: float | None
    lag: float  # seconds for which it was ready but could not run; they are not among the others


class Longest(NamedTuple):
    """Seconds of the longest move and turn, and of lag."""

    move: float
    turn: float
    lag: float


class TimingCounter:
    """Takes games and sums what their moves cost, by agent and opponent."""

    def __init__(self, names: Sequence[str]) -> None:
        """No games yet."""
        self.names = names
        size = len(names) ** 2
        self._sums = {name: np.zeros(size) for name in SUMMED}
        self._most = {name: np.zeros(size, np.int64) for name in MOST}

    def take(self, games: Games) -> None:
        """Take more games."""
        size = len(self.names)
        for seat, other in (("first", "second"), ("second", "first")):
            places = games.columns[seat].astype(np.int64) * size + games.columns[other]
            for name, total in self._sums.items():
                amounts = None if name == "games" else games.columns[f"{seat}_{name}"]
                self._sums[name] = total + np.bincount(places, amounts, len(total))
            for name, most in self._most.items():
                np.maximum.at(most, places, games.columns[f"{seat}_{name}"])

    def rows(self) -> Iterator[Timing]:
        """One timing for each ordered pair of agents that met."""
        size, sums = len(self.names), self._sums
        for place in np.flatnonzero(sums["games"]).tolist():
            yield _timing(
                self.names[place // size],
                self.names[place % size],
                int(sums["games"][place]),
                int(sums["moves"][place]),
                int(sums["nodes"][place]),
                _seconds(sums["nanoseconds"], place),
                Longest(*(_seconds(each, place) for each in (*self._most.values(), sums["lag"]))),
            )


def _seconds(nanoseconds: GameColumn, place: int) -> float:
    return float(nanoseconds[place]) / 1e9


def timing_rows(games: Games, names: Sequence[str]) -> list[Timing]:
    """One timing for each ordered pair of agents that met."""
    sums = TimingCounter(names)
    sums.take(games)
    return list(sums.rows())


def _timing(
    agent: str,
    opponent: str,
    games: int,
    moves: int,
    nodes: int,
    seconds: float,
    longest: Longest,
) -> Timing:
    return Timing(
        agent,
        opponent,
        games,
        moves,
        nodes,
        seconds,
        seconds_per_move=seconds / moves if moves else None,
        nodes_per_move=nodes / moves if moves else None,
        nodes_per_second=nodes / seconds if seconds else None,
        longest_move=longest.move or None,
        longest_turn=longest.turn or None,
        lag=longest.lag,
    )
