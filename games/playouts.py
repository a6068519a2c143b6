"""Whole games of uniformly random moves, any number in one compiled call."""

from typing import NamedTuple

import numpy as np

from games.core import Game, Position, kernels
from games.kernels.context import DRAWS, LOSSES, MARGINS, MOVES, WINS


class PlayoutCounts(NamedTuple):
    """Sums over games, from the first player's side; a pass and a swap are moves here."""

    wins: int
    draws: int
    losses: int
    moves: int
    margins: int


def play_random_games(
    of: Game, games: int, seed: int, first: int = 0, start: Position | None = None
) -> PlayoutCounts:
    """Results of games `first` to `first` + `games` - 1 of the seed, however they are batched."""
    if games < 0 or first < 0:
        raise ValueError(f"games and first must not be negative, got {games} and {first}")
    position = of.start() if start is None else start
    counters = of.context.copy()
    word = np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF)
    kernels(of.family_name).play_random(counters, position.state, first, games, word)
    counted = [int(counters[at]) for at in (WINS, DRAWS, LOSSES, MOVES, MARGINS)]
    if position.mover == 1:
        counted = [*counted[2::-1], counted[3], -counted[4]]
    return PlayoutCounts(*counted)
