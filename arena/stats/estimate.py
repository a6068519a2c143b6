"""An estimate: a number that always carries its uncertainty."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum


class EstimateKind(StrEnum):
    """The guarantee of an interval; printed beside every number that is not `fixed-n`."""

    FIXED = "fixed-n"
    ANYTIME = "anytime"
    SPRT = "sprt"
    ADAPTED = "adapted"
    CENSUS = "census"
    NONE = "none"


class Scope(StrEnum):
    """What an estimate answers; the two are never mixed."""

    LIKE = "openings like these"
    THESE = "exactly these openings"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value in its interval; `None` is a value or an end that the results do not fix.

    Both ends known: the interval. One end: a one-sided bound at `level`. Neither: `reason`
    says why. A number that is not finite is a bug, so it is refused.
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
    def two_sided(self) -> bool:
        """Whether both ends of the interval are known."""
        return self.low is not None and self.high is not None


def no_estimate(
    reason: str,
    value: float | None = None,
    level: float = 0.95,
    scope: Scope = Scope.LIKE,
) -> Estimate:
    """An estimate that allows no conclusion, with the reason."""
    return Estimate(value, None, None, level, EstimateKind.NONE, reason, scope)


def negate(estimate: Estimate) -> Estimate:
    """The same estimate from the other agent's side."""
    return replace(
        estimate,
        value=_minus(estimate.value),
        low=_minus(estimate.high),
        high=_minus(estimate.low),
    )


def transform(estimate: Estimate, rising: Callable[[float], float | None]) -> Estimate:
    """The estimate on another scale; `rising` gives None where that scale has no number."""
    return replace(
        estimate,
        value=None if estimate.value is None else rising(estimate.value),
        low=None if estimate.low is None else rising(estimate.low),
        high=None if estimate.high is None else rising(estimate.high),
    )


def _minus(number: float | None) -> float | None:
    # 0 - x, not -x: the negative of zero is zero.
    return None if number is None else 0.0 - number
