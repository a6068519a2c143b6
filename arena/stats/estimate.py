"""An estimate: a number that always carries its uncertainty."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

# With fewer openings, Student's t and the bootstrap say too little.
FEW_OPENINGS = 10


class EstimateKind(StrEnum):
    """The guarantee of an interval; texts name it unless it is `fixed-n`."""

    FIXED = "fixed-n"
    ANYTIME = "anytime"
    SPRT = "sprt"
    ADAPTED = "adapted"
    CENSUS = "census"
    NONE = "none"


class Scope(StrEnum):
    """The openings that an estimate is about."""

    LIKE = "openings like these"
    THESE = "exactly these openings"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its interval; None is a value or an end that the results do not determine.

    With both ends known it is an interval, with one end a one-sided bound at `level`, and with
    neither `reason` explains why.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    kind: EstimateKind
    reason: str = ""
    scope: Scope = Scope.LIKE

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "level"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"Estimate.{name} must be finite or None, got {number!r}")

    @property
    def has_both_ends(self) -> bool:
        """Return whether both ends of the interval are known."""
        return self.low is not None and self.high is not None


def shared_level(level: float, intervals: int) -> float:
    """Return the level of each of several intervals that all hold at `level` (Bonferroni).

    It needs no independence: matches share openings and agents.
    """
    return 1.0 - (1.0 - level) / intervals


def no_estimate(
    reason: str,
    value: float | None = None,
    level: float = 0.95,
    scope: Scope = Scope.LIKE,
) -> Estimate:
    """Return an estimate that allows no conclusion, with the reason."""
    return Estimate(value, None, None, level, EstimateKind.NONE, reason, scope)


def few_openings_text(openings: int, needed: int = FEW_OPENINGS, unit: str = "openings") -> str:
    """Return the reason why a conclusion is withheld: `needs 10 openings, has 3`."""
    return f"needs {needed:,} {unit}, has {openings:,}"


def negate(estimate: Estimate) -> Estimate:
    """Return the estimate from the other agent's side."""
    return replace(
        estimate,
        value=_minus(estimate.value),
        low=_minus(estimate.high),
        high=_minus(estimate.low),
    )


def transform(estimate: Estimate, rising: Callable[[float], float | None]) -> Estimate:
    """Return the estimate on another scale; `rising` returns None if that scale has no number."""
    return replace(
        estimate,
        value=None if estimate.value is None else rising(estimate.value),
        low=None if estimate.low is None else rising(estimate.low),
        high=None if estimate.high is None else rising(estimate.high),
    )


def _minus(number: float | None) -> float | None:
    # 0 - x, not -x: the negative of zero is zero.
    return None if number is None else 0.0 - number
