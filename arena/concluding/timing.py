"""How long agents thought: the only numbers that a second run does not repeat."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.planning.records import Games


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


def timings(games: Games, names: Sequence[str]) -> list[Timing]:
    """One timing for each ordered pair of agents that met."""
    size = len(names)
    moves, turns = (_most(games, name, size) for name in ("longest", "turn"))
    lag = _sums(games, "lag", size)
    sums = {name: _sums(games, name, size) for name in ("games", "moves", "nodes", "nanoseconds")}
    return [
        _timing(
            names[place // size],
            names[place % size],
            int(sums["games"][place]),
            int(sums["moves"][place]),
            int(sums["nodes"][place]),
            float(sums["nanoseconds"][place]) / 1e9,
            Longest(float(moves[place]) / 1e9, float(turns[place]) / 1e9, float(lag[place]) / 1e9),
        )
        for place in np.flatnonzero(sums["games"]).tolist()
    ]


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


def _most(games: Games, name: str, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The largest number of a column of both seats, by agent and opponent."""
    most = np.zeros(size * size, np.int64)
    for seat, other in (("first", "second"), ("second", "first")):
        places = games.columns[seat].astype(np.int64) * size + games.columns[other]
        np.maximum.at(most, places, games.columns[f"{seat}_{name}"])
    return most


def _sums(games: Games, name: str, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A column of both seats summed by agent and opponent."""
    total = np.zeros(size * size)
    for seat, other in (("first", "second"), ("second", "first")):
        places = games.columns[seat].astype(np.int64) * size + games.columns[other]
        amounts = None if name == "games" else games.columns[f"{seat}_{name}"]
        total += np.bincount(places, amounts, size * size)
    return total
