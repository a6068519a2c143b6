"""Expected intervals and numbers of pairs before playing."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from arena.stats.elo import elo_estimate, score_from_elo
from arena.stats.estimate import Estimate, Scope
from arena.stats.intervals import census_estimate, estimate_from_spread
from arena.stats.quantiles import normal_quantile
from arena.stats.spread import QUARTERS, Spread
from arena.stats.sprt import SprtPlan, expected_lengths

# Of pair scores between bots of like strength, where none was played.
TYPICAL = (1.0, 2.0, 4.0, 2.0, 1.0)
# Added at both ends for the variance of pairings to come.
ADDED = 0.5


class PairsNeeded(NamedTuple):
    """Mean pairings of a sequential test at its two hypotheses and half-way, and a fixed number."""

    at_elo0: float
    half_way: float
    at_elo1: float
    fixed: float


def pilot_shares(counts: Sequence[float]) -> tuple[float, ...]:
    """Shares of the five scores of a pairing in a pilot; typical ones if none was played."""
    seen = tuple(counts) if sum(counts) else TYPICAL
    return tuple(each / sum(seen) for each in seen)


def pair_score_distribution(counts: Sequence[float]) -> tuple[float, ...]:
    """The same shares as the pairings to come may have: an agent that lost none may lose some."""
    seen = tuple(counts) if sum(counts) else TYPICAL
    ended = [seen[0] + ADDED, *seen[1:-1], seen[-1] + ADDED]
    return tuple(each / sum(ended) for each in ended)


def mean_and_variance(law: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of the score of a pairing."""
    mean = sum(share * score for share, score in zip(law, QUARTERS, strict=True))
    square = sum(share * score * score for share, score in zip(law, QUARTERS, strict=True))
    return mean, square - mean * mean


def expected_interval(law: Sequence[float], pairings: int, census: bool = False) -> Estimate:
    """The score that so many pairings will have on as many openings, if they fall as in the law."""
    mean, variance = mean_and_variance(law)
    if census:
        return census_estimate(mean)
    se = math.sqrt(variance / pairings)
    dof = max(1.0, pairings - 1.0)
    found = Spread(
        Scope.LIKE, pairings, pairings, mean, variance, se, dof, QUARTERS, tuple(law), pairings
    )
    return estimate_from_spread(found)


def expected_elo_interval(law: Sequence[float], pairings: int, census: bool = False) -> Estimate:
    """The Elo difference with the interval that so many pairings will have."""
    return elo_estimate(expected_interval(law, pairings, census))


def pairs_needed(variance: float, plan: SprtPlan) -> PairsNeeded:
    """How many pairings tell `elo1` from `elo0`, if one has this variance.

    By the sequential test on average (Wald), and by a fixed number with the same errors
    (Neyman and Pearson; Lehmann, "Testing Statistical Hypotheses", section 3.3).
    """
    apart = score_from_elo(plan.elo1) - score_from_elo(plan.elo0)
    errors = normal_quantile(1.0 - plan.alpha) + normal_quantile(1.0 - plan.beta)
    fixed = variance * (errors / apart) ** 2
    at_elo0, half_way, at_elo1 = expected_lengths(plan, variance)
    return PairsNeeded(at_elo0, half_way, at_elo1, fixed)
