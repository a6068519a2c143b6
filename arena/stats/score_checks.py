"""Whether a score is at least so much, by its one-sided bound."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.stats.anytime import betting_lower_bound, log_betting_capital
from arena.stats.estimate import Scope
from arena.stats.intervals import CENSUS, lower_bound
from arena.stats.spread import Spread

MIN_DISTINCT = 10
_MOST_NEEDED = 10**9


class CheckStatus(StrEnum):
    """PairEstimate of a check; `VACUOUS` counts as a failure."""

    PASSED = "passed"
    FAILED = "failed"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """Whether a score is at least `wanted`; `bound` is the one-sided lower bound used."""

    verdict: CheckStatus
    wanted: float
    score: float | None
    bound: float | None
    level: float
    openings: int
    reason: str


def score_at_least(
    found: Spread,
    wanted: float,
    *,
    level: float = 0.95,
    min_distinct: int = MIN_DISTINCT,
    census: bool = False,
) -> ScoreCheck:
    """Check a score that is looked at once; a census compares exactly.

    Fewer than `min_distinct` openings never pass for openings like these, nor do fewer than
    those whose wins alone would reach the bound.
    """
    least = min_distinct if found.scope is Scope.LIKE else 1
    reason = CENSUS if census else f"one-sided {100 * level:g} % bound"
    if found.openings < least:
        return _vacuous(found, wanted, level, least)
    if not census:
        least = observations_needed(wanted, level)
        if found.alike < least:
            return _vacuous(found, wanted, level, least)
    bound = found.mean if census else lower_bound(found, level)
    return _settled(found, wanted, bound, level, reason)


def score_at_least_anytime(
    found: Spread,
    counts: npt.ArrayLike,
    wanted: float,
    *,
    level: float = 0.95,
    min_distinct: int = MIN_DISTINCT,
    reason: str = "",
) -> ScoreCheck:
    """Check a score that is looked at more than once, by a bound that stays true at every look.

    `counts` are the five pair scores of the first pairing on each opening.
    """
    least = max(min_distinct, observations_needed(wanted, level, looks=True))
    if found.openings < least:
        return _vacuous(found, wanted, level, least)
    bound = float(betting_lower_bound(counts, 1.0 - level))
    return _settled(found, wanted, bound, level, reason or f"anytime {100 * level:g} % bound")


def observations_needed(wanted: float, level: float, *, looks: bool = False) -> int:
    """How many observations, all won, would reach the bound; a billion if no number would."""
    if wanted <= 0.0:
        return 1
    if wanted >= 1.0:
        return _MOST_NEEDED
    if not looks:
        return math.ceil(math.log(1.0 - level) / math.log(wanted) - 1e-9)
    low, high = 0, 1
    while _earned(high, wanted) < -math.log(1.0 - level) and high < _MOST_NEEDED:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _earned(middle, wanted) >= -math.log(1.0 - level)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _earned(wins: int, wanted: float) -> float:
    return float(log_betting_capital(np.array([0, 0, 0, 0, wins]), wanted))


def _settled(found: Spread, wanted: float, bound: float, level: float, reason: str) -> ScoreCheck:
    verdict = CheckStatus.PASSED if bound >= wanted else CheckStatus.FAILED
    return ScoreCheck(verdict, wanted, found.mean, bound, level, found.openings, reason)


def _vacuous(found: Spread, wanted: float, level: float, least: int) -> ScoreCheck:
    score = found.mean if found.pairings else None
    reason = vacuous_text(found.alike, least, found.scope)
    return ScoreCheck(CheckStatus.VACUOUS, wanted, score, None, level, found.openings, reason)


def vacuous_text(there: int, least: int, scope: Scope = Scope.LIKE) -> str:
    """Why no result could satisfy a check: needs 29 openings, has 10."""
    of = "openings" if scope is Scope.LIKE else "pairings"
    if least >= _MOST_NEEDED:
        return "no result can show a score of 100 %"
    return f"needs {least:,} {of}, has {there:,}"
