"""Means over moves or positions, clustered by game."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from arena.stats.counts import Floats, Ints
from arena.stats.quantiles import t_quantile

# The smallest possible loss of a move, in games whose margins differ by 2.
UNSEEN = 2.0


class MeanError(NamedTuple):
    """A mean over positions, with its standard error by game and by position.

    The error by position is too small, because positions of one game are not independent.
    """

    value: float
    by_game: float
    by_position: float


def cluster_mean(values: Floats, games: NDArray[np.int32]) -> MeanError:
    """Return the mean of the values, with games as the sampled units (Liang and Zeger 1986)."""
    count = len(values)
    mean = float(values.sum()) / count
    rest = values - mean
    sums = np.bincount(games, rest)
    clusters = len(np.unique(games))
    between = float((sums**2).sum()) * clusters / max(clusters - 1, 1)
    alone = float((rest**2).sum()) / max(count - 1, 1)
    return MeanError(mean, between**0.5 / count, (alone / count) ** 0.5)


class FitQuality(NamedTuple):
    """How well predictions fit outcomes that were not used to fit them."""

    positions: int
    games: int
    r2: float
    error: MeanError  # the mean of the squared error
    sign_accuracy: float  # the share of decided games whose winner is predicted


def fit_quality(predicted: Floats, outcome: Floats, games: NDArray[np.int32]) -> FitQuality:
    """Return the quality of predictions; R2 is the share of the variance that they explain."""
    squared = cluster_mean((outcome - predicted) ** 2, games)
    variance = float(((outcome - outcome.mean()) ** 2).mean())
    decided = outcome != 0
    right = np.sign(predicted[decided]) == np.sign(outcome[decided])
    return FitQuality(
        len(outcome),
        len(np.unique(games)),
        1.0 - squared.value / variance if variance else 0.0,
        squared,
        float(right.mean()) if len(right) else 0.0,
    )


class CalibrationBin(NamedTuple):
    """Positions with similar predictions, their mean outcome, and its error by game."""

    positions: int
    predicted: float
    outcome: float
    error: float


def calibration(
    predicted: Floats, outcome: Floats, games: NDArray[np.int32], bins: int = 10
) -> list[CalibrationBin]:
    """Divide the positions into bins of equal size by their prediction, the lowest first."""
    order = np.argsort(predicted, kind="stable")
    found = []
    for part in np.array_split(order, bins):
        if len(part):
            mean = cluster_mean(outcome[part], games[part])
            shown = float(predicted[part].mean())
            found.append(CalibrationBin(len(part), shown, mean.value, mean.by_game))
    return found


class MeanBound(NamedTuple):
    """The mean of all items, an upper bound, and the number of clusters."""

    value: float
    high: float
    clusters: int


def cluster_mean_upper_bound(
    clusters: npt.ArrayLike, values: npt.ArrayLike, level: float
) -> MeanBound | None:
    """Return the mean of `values` with its upper bound at this level; None without values.

    The ratio estimator with clusters as units: Cochran, "Sampling Techniques" (1977), section 6.3,
    with Student's t of one degree less than there are clusters. Losses have a long upper tail, so
    the bound is raised by the skewness term of Hall, "Inverting an Edgeworth expansion", Annals of
    Statistics 11 (1983). Few clusters rarely show their tail, so the worst one counts twice for the
    bound, and the share of items that no cluster shows is taken to lose `UNSEEN` each.
    """
    items = np.asarray(values, np.float64)
    if not len(items):
        return None
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(cluster, weights=items), np.bincount(cluster)
    count, mean = len(sizes), float(items.sum() / len(items))
    if count == 1:
        return MeanBound(mean, float("inf"), 1)
    worst = int(np.argmax(sums - mean * sizes))
    more = _skewed_t_bound(np.append(sums, sums[worst]), np.append(sizes, sizes[worst]), level)
    unseen = 1.0 - (1.0 - level) ** (1.0 / count)
    floor = mean + unseen * max(UNSEEN - mean, 0.0)
    return MeanBound(mean, max(floor, more), count)


def min_clusters(high: float, level: float) -> int | None:
    """Return the fewest clusters whose bound is at most `high` if every item is 0; None: never."""
    if high <= 0.0:
        return None
    if high >= UNSEEN:
        return 2
    return max(2, math.ceil(math.log(1.0 - level) / math.log1p(-high / UNSEEN) - 1e-9))


def _skewed_t_bound(sums: Floats, sizes: Ints, level: float) -> float:
    count, items = len(sizes), float(sizes.sum())
    mean = float(sums.sum()) / items
    residuals = (sums - mean * sizes) * count / items
    spread = math.sqrt(float(np.square(residuals).sum()) / (count - 1))
    if spread == 0.0:
        return mean
    skewness = max(0.0, float(np.mean(residuals**3)) / spread**3)
    t = t_quantile(level, count - 2)
    steps = t + skewness * (2 * t * t + 1) / (6 * math.sqrt(count))
    return mean + steps * spread / math.sqrt(count)
