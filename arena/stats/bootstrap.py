"""Errors of ratings, by weighing the openings anew."""

import math
from typing import NamedTuple

import numpy as np

from arena.stats.counts import Floats
from arena.stats.quantiles import normal_cdf, normal_quantile, t_quantile
from arena.stats.rating_fit import Fit, refit
from arena.stats.results import Results, table

_NUMBERS_AT_ONCE = 1_000_000


class Replicates(NamedTuple):
    """Ratings fitted to weighed openings, one row per draw of weights, agents in columns."""

    ratings: Floats
    advantage: Floats


def replicate(
    results: Results, fitted: Fit, with_first_move: bool, draws: int, seed: int
) -> Replicates:
    """Refits with the openings weighed by Exp(1) variates, the same for all pairs of agents.

    Rubin, "The Bayesian bootstrap" (1981). No weight is 0, so a draw loses no result, and every
    draw has a finite solution where the fit has one. Draw r depends on `seed` and r only.
    """
    at_once = max(1, _NUMBERS_AT_ONCE // results.agents**2)
    parts, near = [], table(results, results.games)
    for start in range(0, draws, at_once):
        numbers = range(start, min(start + at_once, draws))
        weighed = _weighed(results, numbers, seed)
        parts.append(refit(*weighed, with_first_move, fitted, near))
    return Replicates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _weighed(results: Results, numbers: range, seed: int) -> tuple[Floats, Floats]:
    """Games and points by ordered pair for each numbered draw of weights."""
    pairs = np.unique(results.pair)
    sums = np.zeros((2, len(numbers), results.agents**2))
    weights = _weights(results.openings, numbers, seed)
    if results.openings * len(pairs) <= 4 * len(results.pair):
        tables = np.zeros((2, results.openings, len(pairs)))
        tables[:, results.opening, np.searchsorted(pairs, results.pair)] = (
            results.games, results.points,
        )  # fmt: skip
        sums[:, :, pairs] = weights @ tables
    else:
        # Few pairs met on an opening: entries side by side, pair after pair.
        order = np.argsort(results.pair, kind="stable")
        opening = results.opening[order]
        starts = np.searchsorted(results.pair[order], pairs)
        for total, amounts in zip(sums, (results.games[order], results.points[order]), strict=True):
            for row, weight in enumerate(weights):
                total[row, pairs] = np.add.reduceat(weight[opening] * amounts, starts)
    shaped = sums.reshape(2, len(numbers), results.agents, results.agents)
    return shaped[0], shaped[1]


def _weights(openings: int, numbers: range, seed: int) -> Floats:
    """The weight of each opening, one row per draw."""
    rows = [np.random.default_rng((seed, number)) for number in numbers]
    return np.stack([row.standard_exponential(openings) for row in rows])


def percentile_ends(
    samples: Floats, fitted: float, openings: int, level: float
) -> tuple[float, float]:
    """Percentile interval, wider for few openings: plain percentiles of ten leave out 10 %.

    Expanded after Hesterberg, "What Teachers Should Know About the Bootstrap" (2015), section
    3.3, with sqrt((K + 1) / (K - 1)) for weights drawn as these are. Where that place is beyond
    the most extreme draw, the plain percentile is stretched from the fit instead.
    """
    plain = normal_quantile(0.5 * (1.0 + level))
    wanted = t_quantile(0.5 * (1.0 + level), openings - 1.0)
    wanted *= math.sqrt((openings + 1.0) / (openings - 1.0))
    ordered, draws = np.sort(samples), len(samples)
    place, stretch = normal_cdf(-wanted) * (draws + 1), 1.0
    if place < 1.0:
        place, stretch = normal_cdf(-plain) * (draws + 1), wanted / plain
    at = max(int(place), 1)
    low, high = float(ordered[at - 1]), float(ordered[draws - at])
    return fitted + (low - fitted) * stretch, fitted + (high - fitted) * stretch
