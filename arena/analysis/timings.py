"""Thinking time per agent and opponent."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from arena.planning.games import Games

SUM_COLUMNS = ("games", "moves", "nodes", "nanoseconds", "lag")
MAX_COLUMNS = ("longest", "turn")


class Timing(NamedTuple):
    """The cost of the moves of `agent` against `opponent`; None without a move or a time."""

    agent: str
    opponent: str
    games: int
    moves: int
    nodes: int
    seconds: float
    seconds_per_move: float | None
    nodes_per_move: float | None
    nodes_per_second: float | None
    longest_move: float | None  # seconds; None if games are timed as a whole
    longest_turn: float | None
    lag: float  # seconds of waiting for a processor, not included in the others


class AgentTiming(NamedTuple):
    """Sums over the moves of an agent."""

    moves: int = 0
    nodes: int = 0
    seconds: float = 0.0

    @property
    def seconds_per_move(self) -> float | None:
        """Return the mean seconds per move; None if they were not measured."""
        return self.seconds / self.moves if self.moves and self.seconds > 0 else None

    @property
    def nodes_per_second(self) -> float | None:
        """Return the nodes searched in a second; None if they or the time were not measured."""
        return self.nodes / self.seconds if self.nodes and self.seconds > 0 else None


def agent_timings(timings: Iterable[Timing]) -> dict[str, AgentTiming]:
    """Return the sums over all opponents of each agent."""
    sums: dict[str, AgentTiming] = {}
    for row in timings:
        own = sums.get(row.agent, AgentTiming())
        sums[row.agent] = AgentTiming(
            own.moves + row.moves, own.nodes + row.nodes, own.seconds + row.seconds
        )
    return sums


class TimingCounter:
    """Sums the cost of moves by agent and opponent."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        size = len(names) ** 2
        self._sums = {name: np.zeros(size) for name in SUM_COLUMNS}
        self._maxima = {name: np.zeros(size, np.int64) for name in MAX_COLUMNS}

    def take(self, games: Games) -> None:
        """Take more games."""
        size = len(self.names)
        for seat, other in (("first", "second"), ("second", "first")):
            places = games.columns[seat].astype(np.int64) * size + games.columns[other]
            for name, total in self._sums.items():
                amounts = None if name == "games" else games.columns[f"{seat}_{name}"]
                self._sums[name] = total + np.bincount(places, amounts, len(total))
            for name, most in self._maxima.items():
                np.maximum.at(most, places, games.columns[f"{seat}_{name}"])

    def rows(self) -> Iterator[Timing]:
        """Yield one timing for each ordered pair of agents that met."""
        size = len(self.names)
        for place in np.flatnonzero(self._sums["games"]).tolist():
            games, moves, nodes = (int(self._sums[n][place]) for n in ("games", "moves", "nodes"))
            seconds, lag = (float(self._sums[n][place]) / 1e9 for n in ("nanoseconds", "lag"))
            longest_move, longest_turn = (float(self._maxima[n][place]) / 1e9 for n in MAX_COLUMNS)
            yield Timing(
                self.names[place // size],
                self.names[place % size],
                games,
                moves,
                nodes,
                seconds,
                seconds_per_move=seconds / moves if moves else None,
                nodes_per_move=nodes / moves if moves else None,
                nodes_per_second=nodes / seconds if seconds else None,
                longest_move=longest_move or None,
                longest_turn=longest_turn or None,
                lag=lag,
            )
