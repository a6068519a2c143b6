"""The earnings of bets against a mean: one statistic for whatever is looked at more than once.

Ten fixed shares of the capital are staked on each score being above a claimed mean. If the mean
is no higher, the capital has expectation 1 at most at every time, so it ever reaches 1 / alpha in
a share alpha of runs at most (Ville; Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting"; the mixture after Orabona and Jun, "Tight concentrations and confidence
sequences from the regret of universal portfolio"). It depends on counts only: neither the order
of the scores nor how they were cut into batches leaves a trace.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats

# Small stakes are for means near the claim and many scores, large ones for the reverse.
STAKES = np.array([0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.65, 0.9])
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
_HALVINGS = 60


class Reach(NamedTuple):
    """Means that are left, from `low` to `high`; 0 and 1 exclude nothing."""

    low: Floats
    high: Floats


def log_capital(
    counts: npt.ArrayLike, mean: npt.ArrayLike, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """Logarithm of the capital that bets on more than `mean` have earned; -inf never occurs.

    `counts[..., i]` says how often `scores[i]` was seen; leading axes are many questions at once,
    and `mean` (above 0, at most 1) is one for all or one for each.
    """
    seen = np.asarray(counts, dtype=np.float64)[..., None, :]
    claim = np.asarray(mean, dtype=np.float64)
    return _log_capital(seen, claim, np.asarray(scores, dtype=np.float64))


def _log_capital(seen: Floats, claim: Floats, scores: Floats) -> Floats:
    """The same of arrays, for those who ask again and again; `seen` has an axis for the stakes."""
    gains = scores / claim[..., None, None] - 1.0
    earned = np.add.reduce(np.log1p(STAKES[:, None] * gains) * seen, axis=-1)
    most: Floats = np.maximum.reduce(earned, axis=-1)
    shares = np.add.reduce(np.exp(earned - most[..., None]), axis=-1)
    return np.asarray(most + np.log(shares / len(STAKES)))


def log_capital_below(
    counts: npt.ArrayLike, mean: npt.ArrayLike, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """Logarithm of the capital that bets on less than `mean` (0 to below 1) have earned."""
    mirrored = [1.0 - score for score in scores]
    return log_capital(counts, 1.0 - np.asarray(mean, dtype=np.float64), mirrored)


def capital_reach(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Reach:
    """Interval that ever leaves out the true mean in a share `alpha` of runs at most."""
    return Reach(lower_reach(counts, alpha / 2.0, scores), upper_reach(counts, alpha / 2.0, scores))


def lower_reach(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """One-sided lower bound that is ever above the true mean in a share `alpha` of runs at most.

    0 where nothing, or no point, was seen.
    """
    seen, limit = np.asarray(counts, dtype=np.float64), -math.log(alpha)
    total, values = seen.sum(axis=-1), np.asarray(scores, dtype=np.float64)
    points = (seen * values).sum(axis=-1)
    # The capital falls as the claimed mean rises, and is at most 1 at the mean seen.
    high = np.divide(points, total, out=np.zeros_like(points), where=total > 0)
    low, by_stake = np.zeros_like(high), seen[..., None, :]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = middle > 0.0
        claimed = np.where(above, middle, 1.0)
        ruled_out = (_log_capital(by_stake, claimed, values) >= limit) & above
        low, high = np.where(ruled_out, middle, low), np.where(ruled_out, high, middle)
    return np.asarray(low)


def upper_reach(
    counts: npt.ArrayLike, alpha: float, scores: Sequence[float] = PAIR_SCORES
) -> Floats:
    """The same from above; 1 where nothing, or no point lost, was seen."""
    mirrored = [1.0 - score for score in scores]
    return np.asarray(1.0 - lower_reach(counts, alpha, mirrored))
