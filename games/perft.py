"""Count the move sequences of a game by depth."""

import json
import time
from collections.abc import Iterator
from typing import NamedTuple

from games import Game, GameError, Position
from games.core import kernels
from games.kernels.context import DEEPEST, ENDED, LEAVES


class PerftRow(NamedTuple):
    """Sequences of exactly `depth` plies, and games that ended after fewer."""

    depth: int
    leaves: int
    ended_early: int
    seconds: float

    @property
    def per_second(self) -> int:
        """Leaves and ended games counted per second."""
        return round((self.leaves + self.ended_early) / max(self.seconds, 1e-9))


def perft(of: Game, position: Position, depth: int) -> list[tuple[int, int]]:
    """(leaves, ended_early) for each depth from 1 to `depth`; a swap is not a ply."""
    require_depth(depth)
    counters = of.context.copy()
    kernels(of.family_name).count_plies(counters, position.state, 0, depth)
    ended, rows = 0, []
    for ply in range(depth):
        ended += int(counters[ENDED + ply])
        rows.append((int(counters[LEAVES + ply]), ended))
    return rows


def require_depth(depth: int) -> None:
    """Refuse a depth that the counters have no room for."""
    if not 1 <= depth <= DEEPEST:
        raise GameError(f"depth must be a whole number from 1 to {DEEPEST}, got {depth}")


def time_depths(of: Game, deepest: int) -> Iterator[PerftRow]:
    """Yield every depth in turn, each counted from the start so that its time is right."""
    perft(of, of.start(), 3)  # compiles or loads the kernels before time is taken
    for depth in range(1, deepest + 1):
        begun = time.perf_counter()
        leaves, ended = perft(of, of.start(), depth)[-1]
        yield PerftRow(depth, leaves, ended, time.perf_counter() - begun)


def print_perft(of: Game, depth: int) -> None:
    """Print a line for each depth as soon as it is counted."""
    print(f"{of.name}\n{'depth':>5} {'leaves':>16} {'ended_early':>14} {'nodes/s':>14}")
    for row in time_depths(of, depth):
        counts = f"{row.depth:>5} {row.leaves:>16,} {row.ended_early:>14,}"
        print(f"{counts} {row.per_second:>14,}", flush=True)


def perft_json(of: Game, depth: int) -> str:
    """All depths as one JSON object."""
    rows = [
        {
            "depth": row.depth,
            "leaves": row.leaves,
            "ended_early": row.ended_early,
            "nodes_per_second": row.per_second,
        }
        for row in time_depths(of, depth)
    ]
    return json.dumps({"game": of.name, "depths": rows})
