"""A mean per item whose items come in clusters of different sizes, with a one-sided bound."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.quantiles import t_quantile


class RatioBound(NamedTuple):
    """The mean of all items, an upper bound of it, and how many clusters it rests on."""

    value: float
    high: float
    clusters: int


def ratio_bound(clusters: npt.ArrayLike, values: npt.ArrayLike, level: float) -> RatioBound | None:
    """The mean of `values` with its upper bound at this level; None if there are none.

    The ratio estimator with clusters as units: Cochran, "Sampling Techniques" (1977), section
    6.3, with Student's t of one degree less than there are clusters. Losses have a long tail
    above, so the bound is raised by the term of their skewness: Hall, "Inverting an Edgeworth
    expansion", Annals of Statistics 11 (1983).
    """
    items = np.asarray(values, np.float64)
    if not len(items):
        return None
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(cluster, weights=items), np.bincount(cluster)
    count, mean = len(sizes), float(items.sum() / len(items))
    if count == 1:
        return RatioBound(mean, float("inf"), 1)
    residuals = (sums - mean * sizes) * count / len(items)
    spread = float(np.sqrt(np.square(residuals).sum() / (count - 1)))
    if spread == 0.0:
        return RatioBound(mean, mean, count)
    skewness = max(0.0, float(np.mean(residuals**3)) / spread**3)
    t = t_quantile(level, count - 1)
    steps = t + skewness * (2 * t * t + 1) / (6 * float(np.sqrt(count)))
    return RatioBound(mean, mean + steps * spread / float(np.sqrt(count)), count)
