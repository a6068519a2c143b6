"""Check whether a score reaches a number, by its one-sided bound."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.stats.anytime import betting_lower_bound, log_betting_capital
from arena.stats.estimate import FEW_OPENINGS, Scope, few_openings_text
from arena.stats.intervals import CENSUS, lower_bound
from arena.stats.spread import Spread

_MAX_OBSERVATIONS = 10**9


class CheckStatus(StrEnum):
    """The result of a check; `VACUOUS` counts as a failure."""

    PASSED = "passed"
    FAILED = "failed"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """A check that a score is at least `wanted`; `bound` is the one-sided lower bound used."""

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
    min_distinct: int = FEW_OPENINGS,
    census: bool = False,
) -> ScoreCheck:
    """Check a score that is looked at once; a census is compared exactly.

    For openings like these, fewer than `min_distinct` openings never pass. The check is vacuous,
    too, if even wins on all openings would not reach the bound.
    """
    least = min_distinct if found.scope is Scope.LIKE else 1
    reason = CENSUS if census else f"one-sided {100 * level:g} % bound"
    if found.openings < least:
        return _vacuous(found, wanted, level, least)
    if not census:
        least = min_observations(wanted, level)
        if found.units < least:
            return _vacuous(found, wanted, level, least)
    bound = found.mean if census else lower_bound(found, level)
    return _result(found, wanted, bound, level, reason)


def score_at_least_anytime(
    found: Spread,
    counts: npt.ArrayLike,
    wanted: float,
    *,
    level: float = 0.95,
    min_distinct: int = FEW_OPENINGS,
    reason: str = "",
) -> ScoreCheck:
    """Check a score that is looked at repeatedly, by an anytime-valid bound.

    `counts` are the five pair scores of the first pair on each opening.
    """
    least = max(min_distinct, min_observations(wanted, level, looks=True))
    if found.openings < least:
        return _vacuous(found, wanted, level, least)
    bound = float(betting_lower_bound(counts, 1.0 - level))
    return _result(found, wanted, bound, level, reason or f"anytime {100 * level:g} % bound")


def min_observations(wanted: float, level: float, *, looks: bool = False) -> int:
    """Return how many won observations reach the bound; a billion if no number does."""
    if wanted <= 0.0:
        return 1
    if wanted >= 1.0:
        return _MAX_OBSERVATIONS
    if not looks:
        return math.ceil(math.log(1.0 - level) / math.log(wanted) - 1e-9)
    low, high = 0, 1
    while _log_capital_of_wins(high, wanted) < -math.log(1.0 - level) and high < _MAX_OBSERVATIONS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _log_capital_of_wins(middle, wanted) >= -math.log(1.0 - level)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _log_capital_of_wins(wins: int, wanted: float) -> float:
    return float(log_betting_capital(np.array([0, 0, 0, 0, wins]), wanted))


def _result(found: Spread, wanted: float, bound: float, level: float, reason: str) -> ScoreCheck:
    verdict = CheckStatus.PASSED if bound >= wanted else CheckStatus.FAILED
    return ScoreCheck(verdict, wanted, found.mean, bound, level, found.openings, reason)


def _vacuous(found: Spread, wanted: float, level: float, least: int) -> ScoreCheck:
    score = found.mean if found.pairs else None
    reason = vacuous_text(found.units, least, found.scope)
    return ScoreCheck(CheckStatus.VACUOUS, wanted, score, None, level, found.openings, reason)


def vacuous_text(count: int, needed: int, scope: Scope = Scope.LIKE) -> str:
    """Return the reason why no result could satisfy a check: `needs 29 openings, has 10`."""
    if needed >= _MAX_OBSERVATIONS:
        return "no result can show a score of 100 %"
    return few_openings_text(count, needed, "openings" if scope is Scope.LIKE else "pairs")
