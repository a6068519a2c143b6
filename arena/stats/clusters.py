"""Standard error of a score when pairings on one opening are not independent."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats


class Spread(NamedTuple):
    """A mean score with its cluster-robust standard error.

    `openings` is K, `pairings` is N; `se` is 0 if all openings scored alike, `dof` is 0 if
    there is one opening. `variance` is that of the pair scores, divisor N.
    """

    openings: int
    pairings: int
    mean: float
    variance: float
    se: float
    dof: float

    @property
    def effective_pairings(self) -> float:
        """Independent pairings that would give the same standard error; K if it is 0."""
        if self.se == 0.0:
            return float(self.openings)
        variance = self.variance * self.pairings / (self.pairings - 1)
        return min(max(variance / self.se**2, 1.0), float(self.pairings))


def spread(openings: npt.ArrayLike, scores: npt.ArrayLike) -> Spread:
    """Cluster-robust spread of scores in [0, 1], one per pairing, clustered by opening.

    Standard error: CR2 for a mean; degrees of freedom: Bell and McCaffrey, "Bias reduction in
    standard errors for linear regression with multi-stage samples" (2002).
    """
    values = _scores(scores)
    total = len(values)
    if total == 0:
        return Spread(0, 0, 0.0, 0.0, 0.0, 0.0)
    _, cluster, sizes = np.unique(np.asarray(openings), return_inverse=True, return_counts=True)
    points = float(values.sum())
    mean = points / total
    # Sums of quarters are exact, so the order of the pairings leaves no trace.
    variance = max(total * float(np.square(values).sum()) - points**2, 0.0) / total**2
    if len(sizes) == 1:
        return Spread(1, total, mean, variance, 0.0, 0.0)
    errors = np.bincount(cluster.ravel(), weights=values) - sizes * mean
    # Exact scores leave errors of a few roundings where there is none.
    errors[np.abs(errors) < 1e-9 * sizes] = 0.0
    share = sizes / total
    se = float(np.sqrt((np.square(errors) / (1.0 - share)).sum())) / total
    return Spread(len(sizes), total, mean, variance, se, _bell_mccaffrey(share))


def kish_size(openings: npt.ArrayLike) -> float:
    """Openings of equal size that would weigh as much: (sum n)^2 / sum n^2 (Kish)."""
    sizes = np.unique(np.asarray(openings), return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0


def _bell_mccaffrey(share: Floats) -> float:
    """Degrees of freedom of the CR2 error; K - 1 if all clusters have the same share."""
    squares = np.square(share)
    weights = squares / (1.0 - share)
    crossed = weights.sum() ** 2 - np.square(weights).sum()
    return float(1.0 / (squares.sum() + crossed))


def _scores(scores: npt.ArrayLike) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise ValueError("a score must be between 0 and 1")
    return values
