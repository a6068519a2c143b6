"""Errors of ratings, by drawing the openings again."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.connected import FirstMove, Flags, beats, components, first_move, reachable
from arena.stats.counts import Floats
from arena.stats.quantiles import normal_cdf, t_quantile
from arena.stats.rating_fit import Fit, fit
from arena.stats.results import Results

FINITE, ABOVE, BELOW, UNKNOWN = 0, 1, -1, 2
_NUMBERS_AT_ONCE = 1_000_000


class Replicates(NamedTuple):
    """Ratings fitted to drawn openings, one row per draw, agents in columns.

    `order[r, i, j]` says what rating i - rating j is in draw r: FINITE (the difference of the
    ratings), ABOVE or BELOW (infinite), or UNKNOWN. `whole` marks the draws that have a finite
    solution; only there is `advantage` fitted.
    """

    ratings: Floats
    order: npt.NDArray[np.int8]
    advantage: Floats
    whole: Flags


class Samples(NamedTuple):
    """One quantity in every draw; infinite where the draw sets no bound on that side."""

    low: Floats
    high: Floats


def replicate(
    results: Results, fitted: Fit, with_first_move: bool, draws: int, seed: int
) -> Replicates:
    """Refits to `draws` sets of openings drawn with replacement, the same for all pairs.

    Draw r depends on `seed` and r only.
    """
    agents = results.agents
    at_once = max(1, _NUMBERS_AT_ONCE // agents**2)
    parts = []
    for start in range(0, draws, at_once):
        numbers = range(start, min(start + at_once, draws))
        games, points = _redrawn(results, numbers, seed)
        parts.append(_refit(games, points, fitted, with_first_move))
    return Replicates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _redrawn(results: Results, numbers: range, seed: int) -> tuple[Floats, Floats]:
    """Games and points by ordered pair for each numbered draw of openings."""
    pairs, column = np.unique(results.pair, return_inverse=True)
    column = column.ravel()
    sums = np.zeros((2, len(numbers), results.agents**2))
    dense = results.openings * len(pairs) <= 4 * len(column)
    if dense:
        tables = np.zeros((2, results.openings, len(pairs)))
        tables[:, results.opening, column] = results.games, results.points
        sums[:, :, pairs] = _weights(results.openings, numbers, seed) @ tables
    else:
        for row, number in enumerate(numbers):
            weight = _weights(results.openings, range(number, number + 1), seed)[0]
            weight = weight[results.opening]
            for total, amounts in zip(sums, (results.games, results.points), strict=True):
                total[row, pairs] = np.bincount(column, weight * amounts, len(pairs))
    shaped = sums.reshape(2, len(numbers), results.agents, results.agents)
    return shaped[0], shaped[1]


def _weights(openings: int, numbers: range, seed: int) -> Floats:
    """How often each opening is drawn, one row per draw."""
    weights = np.empty((len(numbers), openings))
    for row, number in enumerate(numbers):
        drawn = np.random.default_rng((seed, number)).integers(openings, size=openings)
        weights[row] = np.bincount(drawn, minlength=openings)
    return weights


def _refit(games: Floats, points: Floats, fitted: Fit, with_first_move: bool) -> Replicates:
    """Ratings of each drawn table, in parts where it does not hold together."""
    draws, agents = games.shape[:2]
    whole = np.array(
        [_has_solution(g, p, with_first_move) for g, p in zip(games, points, strict=True)]
    )
    ratings = np.zeros((draws, agents))
    advantage = np.zeros(draws)
    order = np.zeros((draws, agents, agents), dtype=np.int8)
    if whole.any():
        refitted = fit(games[whole], points[whole], with_first_move, fitted)
        ratings[whole], advantage[whole] = refitted
    for draw in np.flatnonzero(~whole):
        ratings[draw], order[draw] = _partial(games[draw], points[draw], fitted, with_first_move)
    return Replicates(ratings, order, advantage, whole)


def _has_solution(games: Floats, points: Floats, with_first_move: bool) -> bool:
    if not reachable(beats(games, points)).all():
        return False
    return not with_first_move or first_move(games, points) is FirstMove.FITTED


def _partial(
    games: Floats, points: Floats, fitted: Fit, with_first_move: bool
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """Ratings inside each component of a table without finite solution, and who is above."""
    reach = reachable(beats(games, points))
    order = np.full(games.shape, UNKNOWN, dtype=np.int8)
    order[reach & ~reach.T] = ABOVE
    order[reach.T & ~reach] = BELOW
    np.fill_diagonal(order, FINITE)
    ratings = np.zeros(len(games))
    for members in components(reach):
        inside = np.ix_(members, members)
        own = games[inside][None], points[inside][None]
        if len(members) > 1 and _has_solution(own[0][0], own[1][0], with_first_move):
            start = Fit(fitted.ratings[:, members], fitted.advantage)
            ratings[members] = fit(*own, with_first_move, start).ratings[0]
            order[inside] = FINITE
    return ratings, order


def difference_samples(replicates: Replicates, one: int, other: int) -> Samples:
    """Rating of `one` less rating of `other` in every draw."""
    order = replicates.order[:, one, other]
    finite = replicates.ratings[:, one] - replicates.ratings[:, other]
    return _samples(finite, _may_be(order, BELOW), _may_be(order, ABOVE))


def rating_samples(replicates: Replicates, agent: int) -> Samples:
    """Rating of an agent above the mean of its pool in every draw."""
    order = replicates.order[:, agent, :]
    down, up = (np.asarray(_may_be(order, end).any(axis=1)) for end in (BELOW, ABOVE))
    return _samples(replicates.ratings[:, agent], down, up)


def advantage_samples(replicates: Replicates) -> Samples:
    """First-move advantage in every draw."""
    broken = ~replicates.whole
    return _samples(replicates.advantage, broken, broken)


def _may_be(order: npt.NDArray[np.int8], infinite: int) -> Flags:
    return np.asarray((order == infinite) | (order == UNKNOWN))


def _samples(finite: Floats, down: Flags, up: Flags) -> Samples:
    """A draw that goes down only is infinite downwards on both sides; likewise up."""
    low = np.where(down, -np.inf, np.where(up, np.inf, finite))
    high = np.where(up, np.inf, np.where(down, -np.inf, finite))
    return Samples(low, high)


def percentile_ends(
    samples: Samples, openings: int, level: float
) -> tuple[float | None, float | None]:
    """Percentile interval; None where the end is infinite.

    Expanded for few openings: Hesterberg, "What Teachers Should Know About the Bootstrap"
    (2015), section 3.3. Plain percentiles of 10 openings leave out about 10 % instead of 5 %.
    """
    stretched = math.sqrt(openings / (openings - 1.0)) * t_quantile(
        0.5 * (1.0 + level), openings - 1.0
    )
    draws = len(samples.low)
    place = max(int(normal_cdf(-stretched) * (draws + 1)), 1)
    low = float(np.sort(samples.low)[place - 1])
    high = float(np.sort(samples.high)[draws - place])
    return (
        low if math.isfinite(low) else None,
        high if math.isfinite(high) else None,
    )
