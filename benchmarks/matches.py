"""Matches between compiled agents on all cores, many games in one kernel call."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.game_loop import LENGTH, MARGIN, RESULTS
from arena.stats.sprt import SprtPlan, SprtState, finish_sprt, start_sprt, update_sprt
from games import Game
from games.core import family_drivers

PAIRS_AT_ONCE = 40  # of an SPRT
LONGEST = 512  # plies of a game
Margins = NDArray[np.int64]


class Score(NamedTuple):
    """Wins, draws and losses of one agent, with its share of the points."""

    wins: int
    draws: int
    losses: int
    error: float  # standard error of the share, from pairs where there are pairs

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


def random_openings(of: Game, plies: int, pairs: int, seed: int) -> NDArray[np.int16]:
    """Return `pairs` lines of random plies to distinct positions of unfinished games."""
    slots = np.empty((4 * pairs, plies), np.int16)
    keys = np.empty(len(slots), np.uint64)
    start = of.start().state
    family_drivers(of.family_name).random_lines(
        of.context.copy(), start, 0, np.uint64(seed), slots, keys
    )
    distinct, places = np.unique(keys, return_index=True)
    chosen = np.sort(places[distinct != 0])[:pairs]
    if len(chosen) < pairs:
        raise ValueError(f"{of.name}: {plies} random plies reach too few positions")
    lines: NDArray[np.int16] = slots[chosen]
    return lines


def margins(
    of: Game, first: AgentSpec, second: AgentSpec, openings: NDArray[np.int16], seed: int
) -> Margins:
    """Return the first player's margin in one game from each opening.

    The margins do not depend on the number of cores.
    """
    rows = np.array_split(np.arange(len(openings)), min(len(openings), 4 * (os.cpu_count() or 1)))

    def part(chosen: NDArray[np.int64]) -> Margins:
        return _play_games(of, (first, second), openings[chosen], chosen, seed)

    _play_games(
        of, (first, second), openings[:0], rows[0][:0], seed
    )  # compile before the threads start
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        return np.concatenate(list(workers.map(part, rows)))


def _play_games(
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
    """Return the score of `one` over pairs, one from every opening."""
    return score_of(both_sides(of, one, other, openings, seed))


def both_sides(
    of: Game, one: AgentSpec, other: AgentSpec, openings: NDArray[np.int16], seed: int
) -> Margins:
    """Return the results of `one` (1, 0, -1) by opening: moving first and moving second."""
    moving_first = np.sign(margins(of, one, other, openings, seed))
    moving_second = -np.sign(margins(of, other, one, openings, seed))
    return np.stack([moving_first, moving_second], axis=1)


def score_of(signs: Margins) -> Score:
    """Return the score of pairs of games."""
    pairs = signs.sum(axis=1) / 4 + 0.5
    return score_of_games(signs.ravel(), float(pairs.std(ddof=1)) / math.sqrt(len(pairs)))


def sprt_match(
    of: Game,
    one: AgentSpec,
    other: AgentSpec,
    openings: NDArray[np.int16],
    seed: int,
    plan: SprtPlan,
) -> tuple[Score, SprtState]:
    """Play pairs until the SPRT decides or the openings run out; score the pairs it used."""
    state, parts = start_sprt(plan), list[Margins]()
    while not state.is_finished and PAIRS_AT_ONCE * len(parts) < len(openings):
        some = openings[PAIRS_AT_ONCE * len(parts) :][:PAIRS_AT_ONCE]
        parts.append(both_sides(of, one, other, some, seed + len(parts)))
        state = update_sprt(plan, state, parts[-1].sum(axis=1) / 4 + 0.5)
    return score_of(np.concatenate(parts)[: state.observations]), finish_sprt(state)


def score_of_games(signs: NDArray[np.int64], error: float | None = None) -> Score:
    """Return the score of games by their signs; without `error`, games are independent."""
    points = (signs + 1) / 2
    alone = float(points.std(ddof=1)) / math.sqrt(len(points)) if len(points) > 1 else 0.0
    wins, draws = int((signs > 0).sum()), int((signs == 0).sum())
    return Score(wins, draws, len(signs) - wins - draws, alone if error is None else error)
