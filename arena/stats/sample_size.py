"""Expected intervals and required numbers of pairs, before playing."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from arena.stats.elo import elo_estimate, score_from_elo
from arena.stats.estimate import Estimate, Scope
from arena.stats.intervals import census_estimate, estimate_from_spread
from arena.stats.quantiles import normal_quantile
from arena.stats.spread import QUARTERS, Spread
from arena.stats.sprt import SprtPlan, mean_test_lengths

# Of pair scores between bots of like strength, where none was played.
TYPICAL = (1.0, 2.0, 4.0, 2.0, 1.0)
# Added at both ends for the variance of pairs to come.
ADDED = 0.5


class SampleSizes(NamedTuple):
    """Mean pairs of a sequential test at three true strengths, and the pairs of a fixed test."""

    at_elo0: float
    midway: float
    at_elo1: float
    fixed: float


def score_shares(counts: Sequence[float]) -> tuple[float, ...]:
    """Return the shares of the five pair scores in a pilot; typical ones without a pilot."""
    seen = tuple(counts) if sum(counts) else TYPICAL
    return tuple(each / sum(seen) for each in seen)


def smooth_score_shares(counts: Sequence[float]) -> tuple[float, ...]:
    """Return the shares to expect of future pairs: a score that a pilot lacks may still occur."""
    seen = tuple(counts) if sum(counts) else TYPICAL
    ended = [seen[0] + ADDED, *seen[1:-1], seen[-1] + ADDED]
    return tuple(each / sum(ended) for each in ended)


def mean_and_variance(law: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance of the score of a pair."""
    mean = sum(share * score for share, score in zip(law, QUARTERS, strict=True))
    square = sum(share * score * score for share, score in zip(law, QUARTERS, strict=True))
    return mean, square - mean * mean


def forecast_score(law: Sequence[float], pairs: int, census: bool = False) -> Estimate:
    """Return the score to expect of this many pairs, each on its own opening."""
    mean, variance = mean_and_variance(law)
    if census:
        return census_estimate(mean)
    se = math.sqrt(variance / pairs)
    dof = max(1.0, pairs - 1.0)
    found = Spread(Scope.LIKE, pairs, pairs, mean, variance, se, dof, QUARTERS, tuple(law), pairs)
    return estimate_from_spread(found)


def forecast_elo(law: Sequence[float], pairs: int, census: bool = False) -> Estimate:
    """Return the Elo difference to expect of this many pairs."""
    return elo_estimate(forecast_score(law, pairs, census))


def sample_sizes(variance: float, plan: SprtPlan) -> SampleSizes:
    """Return the numbers of pairs that distinguish `elo1` from `elo0` at this variance.

    The sequential test's are means (Wald). The fixed number has the same errors (Neyman and
    Pearson; Lehmann, "Testing Statistical Hypotheses", section 3.3).
    """
    apart = score_from_elo(plan.elo1) - score_from_elo(plan.elo0)
    errors = normal_quantile(1.0 - plan.alpha) + normal_quantile(1.0 - plan.beta)
    fixed = variance * (errors / apart) ** 2
    at_elo0, half_way, at_elo1 = mean_test_lengths(plan, variance)
    return SampleSizes(at_elo0, half_way, at_elo1, fixed)
