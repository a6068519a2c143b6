"""How long agents thought: the numbers of a run that another run does not repeat."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.planning.records import Games


@dataclass(frozen=True, slots=True)
class Timing:
    """What the moves that `agent` chose against `opponent` cost."""

    agent: str
    opponent: str
    games: int
    moves: int
    nodes: int
    seconds: float

    @property
    def seconds_per_move(self) -> float | None:
        """Mean thinking time; None without a move."""
        return self.seconds / self.moves if self.moves else None

    @property
    def nodes_per_move(self) -> float | None:
        """Mean positions looked at; None without a move."""
        return self.nodes / self.moves if self.moves else None

    @property
    def nodes_per_second(self) -> float | None:
        """Positions looked at in a second; None if nothing was timed."""
        return self.nodes / self.seconds if self.seconds else None


def timings(games: Games, names: Sequence[str]) -> list[Timing]:
    """One timing an ordered pair of agents that met."""
    size = len(names)
    sums = {name: _sums(games, name, size) for name in ("games", "moves", "nodes", "nanoseconds")}
    return [
        Timing(
            names[place // size],
            names[place % size],
            int(sums["games"][place]),
            int(sums["moves"][place]),
            int(sums["nodes"][place]),
            float(sums["nanoseconds"][place]) / 1e9,
        )
        for place in np.flatnonzero(sums["games"]).tolist()
    ]


def _sums(games: Games, name: str, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A column of both seats summed by agent and opponent."""
    total = np.zeros(size * size)
    for seat, other in (("first", "second"), ("second", "first")):
        places = games.columns[seat].astype(np.int64) * size + games.columns[other]
        amounts = None if name == "games" else games.columns[f"{seat}_{name}"]
        total += np.bincount(places, amounts, size * size)
    return total
