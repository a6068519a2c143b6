"""Matches between compiled agents, whole games in one call, on all cores."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, build
from agents.compiled import CompiledAgent
from agents.kernels.games import LENGTH, MARGIN, RESULTS
from games import Game
from games.core import kernels

LONGEST = 512  # plies of a game
Margins = NDArray[np.int64]


class Score(NamedTuple):
    """Games of one agent: won, drawn, lost, and its share of the points."""

    wins: int
    draws: int
    losses: int
    error: float  # standard error of the share, from pairs where there are pairs

    @property
    def share(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / (self.wins + self.draws + self.losses)

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


def random_openings(of: Game, plies: int, pairs: int, seed: int) -> NDArray[np.int16]:
    """`pairs` lines of random plies that reach distinct positions of unfinished games."""
    slots = np.empty((4 * pairs, plies), np.int16)
    keys = np.empty(len(slots), np.uint64)
    start = of.start().state
    kernels(of.family_name).random_lines(of.context.copy(), start, 0, np.uint64(seed), slots, keys)
    distinct, places = np.unique(keys, return_index=True)
    chosen = np.sort(places[distinct != 0])[:pairs]
    if len(chosen) < pairs:
        raise ValueError(f"{of.name}: {plies} random plies reach too few positions")
    lines: NDArray[np.int16] = slots[chosen]
    return lines


def margins(
    of: Game, first: AgentSpec, second: AgentSpec, openings: NDArray[np.int16], seed: int
) -> Margins:
    """The first player's margin of one game from each opening; the same on any number of cores."""
    rows = np.array_split(np.arange(len(openings)), min(len(openings), 4 * (os.cpu_count() or 1)))

    def part(chosen: NDArray[np.int64]) -> Margins:
        return _played(of, (first, second), openings[chosen], chosen, seed)

    _played(of, (first, second), openings[:0], rows[0][:0], seed)  # compiles once, before threads
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        return np.concatenate(list(workers.map(part, rows)))


def _played(
    of: Game,
    specs: Sequence[AgentSpec],
    openings: NDArray[np.int16],
    numbers: NDArray[np.int64],
    seed: int,
) -> Margins:
    agents = [agent for spec in specs if isinstance(agent := build(spec, of), CompiledAgent)]
    first, second = agents
    seeds = np.stack([2 * numbers, 2 * numbers + 1], axis=1).astype(np.uint64)
    seeds += np.uint64(seed << 32)
    slots = np.empty((len(openings), LONGEST), np.int16)
    results = np.zeros((len(openings), RESULTS), np.int64)
    contexts, start = (first.context, second.context), of.start().state
    first.kernels.play_games(*contexts, start, openings, seeds, slots, results)
    if (results[:, LENGTH] <= 0).any():
        raise ValueError(f"{of.name}: a game was longer than {LONGEST} plies")
    return results[:, MARGIN]


def pair_score(
    of: Game, one: AgentSpec, other: AgentSpec, openings: NDArray[np.int16], seed: int
) -> Score:
    """The score of `one` from every opening on both sides."""
    moving_first = np.sign(margins(of, one, other, openings, seed))
    moving_second = -np.sign(margins(of, other, one, openings, seed))
    pairs = (moving_first + moving_second) / 4 + 0.5
    error = float(pairs.std(ddof=1)) / math.sqrt(len(pairs))
    return counted(np.concatenate([moving_first, moving_second]), error)


def counted(signs: NDArray[np.int64], error: float | None = None) -> Score:
    """The score of games by their signs; without pairs the games are independent."""
    points = (signs + 1) / 2
    alone = float(points.std(ddof=1)) / math.sqrt(len(points)) if len(points) > 1 else 0.0
    wins, draws = int((signs > 0).sum()), int((signs == 0).sum())
    return Score(wins, draws, len(signs) - wins - draws, alone if error is None else error)
