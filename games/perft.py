"""Count move sequences, and play random games, each in one compiled call."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from games import Game, GameError, Position
from games.core import family_drivers
from games.kernels.context import DEEPEST, DRAWS, ENDED, LEAVES, LOSSES, MARGINS, MOVES, WINS


class PerftRow(NamedTuple):
    """Sequences of exactly `depth` plies, and games that ended before."""

    depth: int
    leaves: int
    ended_early: int
    seconds: float

    @property
    def per_second(self) -> int:
        """Return leaves and ended games per second."""
        return round((self.leaves + self.ended_early) / max(self.seconds, 1e-9))


def perft(game: Game, position: Position, depth: int) -> list[tuple[int, int]]:
    """Return (leaves, ended_early) for each depth from 1 to `depth`; a swap is not a ply."""
    require_depth(depth)
    counters = game.context.copy()
    family_drivers(game.family_name).count_plies(counters, position.state, 0, depth)
    ended, rows = 0, []
    for ply in range(depth):
        ended += int(counters[ENDED + ply])
        rows.append((int(counters[LEAVES + ply]), ended))
    return rows


def require_depth(depth: int) -> None:
    """Raise a GameError if the depth exceeds the counters."""
    if not 1 <= depth <= DEEPEST:
        raise GameError(f"depth must be a whole number from 1 to {DEEPEST}, got {depth}")


def time_depths(game: Game, deepest: int) -> Iterator[PerftRow]:
    """Yield the counts of every depth; each is counted from scratch, so that its time is right."""
    perft(game, game.start(), 3)  # compile or load the kernels before timing
    for depth in range(1, deepest + 1):
        start_time = time.perf_counter()
        leaves, ended = perft(game, game.start(), depth)[-1]
        yield PerftRow(depth, leaves, ended, time.perf_counter() - start_time)


class PlayoutCounts(NamedTuple):
    """Sums over games for the first player; a pass and a swap count as moves."""

    wins: int
    draws: int
    losses: int
    moves: int
    margins: int


def play_random_games(
    game: Game, games: int, seed: int, first: int = 0, start: Position | None = None
) -> PlayoutCounts:
    """Play random games `first` to `first` + `games` - 1 of the seed, the same in any batches."""
    if games < 0 or first < 0:
        raise ValueError(f"games and first must not be negative, got {games} and {first}")
    position = game.start() if start is None else start
    counters = game.context.copy()
    word = np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF)
    family_drivers(game.family_name).play_random(counters, position.state, first, games, word)
    counted = [int(counters[at]) for at in (WINS, DRAWS, LOSSES, MOVES, MARGINS)]
    if position.mover == 1:
        counted = [*counted[2::-1], counted[3], -counted[4]]
    return PlayoutCounts(*counted)
