"""The interval on a score: cluster t, widened where that is known to fail."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy.typing as npt

from arena.stats.clusters import Spread, spread
from arena.stats.estimate import Estimate, EstimateKind, nothing
from arena.stats.quantiles import normal_quantile, t_quantile

FEW_OPENINGS = 10
FEW_POINTS = 5.0
ALIKE = "all pairings alike"
PERFECT = "every game had the same winner"
NO_GAMES = "no games"
ONE_OPENING = "one opening: no inference"
CENSUS = "census"


class Ends(NamedTuple):
    """Both ends of an interval; may lie outside the scale."""

    low: float
    high: float


def wilson(share: float, n: float, z: float) -> Ends:
    """Wilson interval of a share seen in `n` trials (Wilson, JASA 22, 1927)."""
    widened = 1.0 + z * z / n
    centre = (share + z * z / (2.0 * n)) / widened
    half = z / widened * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return Ends(centre - half, centre + half)


def small_or_lopsided(found: Spread) -> bool:
    """Whether cluster t alone is not to be trusted: reference, section 3, rule 3."""
    points = found.openings * min(found.mean, 1.0 - found.mean)
    # A hair below 5, so that a rounding does not decide.
    return found.openings < FEW_OPENINGS or points < FEW_POINTS - 1e-9


def interval(found: Spread, tail: float) -> Ends:
    """Interval that leaves out `tail` on each side; needs two openings or more.

    Ends at 0 or 1, or beyond, say that the results set no bound on that side.
    """
    if found.se > 0.0:
        reach = t_quantile(1.0 - tail, found.dof) * found.se
        ends = Ends(found.mean - reach, found.mean + reach)
    else:
        ends = _alike_interval(found, tail)
    if not small_or_lopsided(found):
        return ends
    wide = wilson(found.mean, found.openings, normal_quantile(1.0 - tail))
    return Ends(min(ends.low, wide.low), max(ends.high, wide.high))


def _alike_interval(found: Spread, tail: float) -> Ends:
    """Interval of K observations all equal: an unseen kind has a share below 1 - tail^(1/K)."""
    unseen = 1.0 - tail ** (1.0 / found.openings)
    return Ends(found.mean * (1.0 - unseen), found.mean + unseen * (1.0 - found.mean))


def estimate_from_spread(found: Spread, level: float = 0.95, census: bool = False) -> Estimate:
    """Score with its interval, by the five rules of section 3 of the reference."""
    if found.pairings == 0:
        return nothing(NO_GAMES, level=level)
    if census:
        return Estimate(found.mean, None, None, level, EstimateKind.CENSUS, CENSUS)
    if found.openings == 1:
        return nothing(ONE_OPENING, found.mean, level)
    alpha = 1.0 - level
    if found.mean in (0.0, 1.0):
        # Clopper and Pearson at the end of the scale; exact for any score in [0, 1].
        bound = alpha ** (1.0 / found.openings)
        low, high = (bound, None) if found.mean == 1.0 else (None, 1.0 - bound)
        return Estimate(found.mean, low, high, level, EstimateKind.FIXED, PERFECT)
    ends = interval(found, 0.5 * alpha)
    return Estimate(
        found.mean,
        ends.low if ends.low > 0.0 else None,
        ends.high if ends.high < 1.0 else None,
        level,
        EstimateKind.FIXED,
        ALIKE if found.se == 0.0 else "",
    )


def score_estimate(
    openings: npt.ArrayLike, scores: npt.ArrayLike, level: float = 0.95, census: bool = False
) -> Estimate:
    """Score with its interval from one score per pairing.

    A `census` is every opening of a finite set, played by a deterministic pair.
    """
    return estimate_from_spread(spread(openings, scores), level, census)


class Status(StrEnum):
    """Answer of a check; `VACUOUS` counts as a failure."""

    PASSED = "passed"
    FAILED = "failed"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """Whether a score is at least `wanted`; `bound` is the one-sided lower bound used."""

    verdict: Status
    wanted: float
    score: float | None
    bound: float | None
    level: float
    openings: int
    reason: str


def score_at_least(
    openings: npt.ArrayLike,
    scores: npt.ArrayLike,
    wanted: float,
    *,
    level: float = 0.95,
    min_distinct: int = FEW_OPENINGS,
    census: bool = False,
) -> ScoreCheck:
    """Check a score by its one-sided lower bound; a census compares exactly.

    Fewer than `min_distinct` openings never pass.
    """
    found = spread(openings, scores)
    score = found.mean if found.pairings else None
    if found.openings < min_distinct:
        reason = f"{found.openings} distinct openings, at least {min_distinct} needed"
        verdict, bound = Status.VACUOUS, None
    else:
        bound = found.mean if census else lower_bound(found, level)
        verdict = Status.PASSED if bound >= wanted else Status.FAILED
        reason = CENSUS if census else f"one-sided {100 * level:g} % bound"
    return ScoreCheck(verdict, wanted, score, bound, level, found.openings, reason)


def lower_bound(found: Spread, level: float = 0.95) -> float:
    """One-sided lower bound of a score; 0 if the results set none."""
    if found.openings < 2:
        return 0.0
    if found.mean == 1.0:
        return float((1.0 - level) ** (1.0 / found.openings))
    return max(0.0, interval(found, 1.0 - level).low)
