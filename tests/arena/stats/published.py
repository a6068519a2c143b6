"""Formulas of other programs and papers, for comparison in tests."""

import math
from collections.abc import Sequence

import numpy as np

from arena.stats.counts import Floats
from arena.stats.elo import ELO_PER_SIGMA, NATURAL, elo_from_score, moments, normalized_elo
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import Ends
from arena.stats.quantiles import beta_cdf, normal_cdf, normal_quantile
from arena.stats.rating_fit import Fit

_STEPS = 60


def beta_quantile(p: float, a: float, b: float) -> float:
    """Value x with I_x(a, b) = p, by bisection; 0 at p <= 0, 1 at p >= 1."""
    if p <= 0.0 or p >= 1.0:
        return float(p >= 1.0)
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def published_elo(counts: Sequence[float]) -> Estimate:
    """Elo with the half-width that fishtest and fastchess print: observations independent.

    For comparison with other programs; the project's own interval is `elo_estimate`.
    """
    n, mean, variance = moments(counts)
    reach = normal_quantile(0.975) * math.sqrt(variance / n)
    if reach == 0.0 or mean - reach <= 0.0 or mean + reach >= 1.0:
        value = elo_from_score(mean) if 0.0 < mean < 1.0 else None
        return no_estimate("the published error is not defined", value)
    half = 0.5 * (elo_from_score(mean + reach) - elo_from_score(mean - reach))
    value = elo_from_score(mean)
    return Estimate(value, value - half, value + half, 0.95, EstimateKind.FIXED, "symmetric")


def published_normalized_elo(counts: Sequence[float]) -> Estimate:
    """Normalized Elo with the half-width that fishtest and fastchess print."""
    n, mean, variance = moments(counts)
    if variance == 0.0:
        return no_estimate("all observations alike")
    per_observation = 2 if len(counts) == 5 else 1
    half = normal_quantile(0.975) * ELO_PER_SIGMA / math.sqrt(n * per_observation)
    value = normalized_elo(mean, variance, per_observation)
    return Estimate(value, value - half, value + half, 0.95, EstimateKind.FIXED, "symmetric")


def published_los(counts: Sequence[float]) -> float | None:
    """Likelihood of superiority as fishtest and fastchess print it; None without variance."""
    n, mean, variance = moments(counts)
    return normal_cdf((mean - 0.5) / math.sqrt(variance / n)) if variance > 0.0 else None


def clopper_pearson(wins: int, n: int, level: float = 0.95) -> Ends:
    """Exact interval of a share from `wins` in `n` trials (Clopper and Pearson, 1934)."""
    tail = 0.5 * (1.0 - level)
    low = 0.0 if wins == 0 else beta_quantile(tail, wins, n - wins + 1)
    high = 1.0 if wins == n else beta_quantile(1.0 - tail, wins + 1, n - wins)
    return Ends(low, high)


def expected_scores(fitted: Fit) -> Floats:
    """Expected score of each first mover against each second mover."""
    gap = fitted.ratings[:, :, None] - fitted.ratings[:, None, :]
    gap = gap + fitted.advantage[:, None, None]
    return np.asarray(1.0 / (1.0 + np.exp(-gap * NATURAL)))


def draw_share(score: float, even: float) -> float:
    """Share of draws at expected `score`, `even` being the share at an expected score of 1/2.

    Positive root of (1 - 2 even) / even^2 x^2 + 2 x = 4 score (1 - score) (Ordo, option -D).
    """
    return float(_shares(np.array([score]), even)[0])


def even_draw_share(scores: Floats, games: Floats, drawn: float) -> float:
    """Share of draws between equals at which as many draws are expected as were `drawn`."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if float((games * _shares(scores, middle)).sum()) < drawn:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high) if drawn > 0.0 else 0.0


def _shares(scores: Floats, even: float) -> Floats:
    if even <= 0.0:
        return np.zeros_like(scores)
    room = 4.0 * scores * (1.0 - scores)
    bend = (1.0 - 2.0 * even) / even**2
    # The root in a form that stays true where the bend is 0 or negative.
    root = np.sqrt(np.maximum(1.0 + bend * room, 0.0))
    return np.asarray(room / (1.0 + root), dtype=np.float64)
