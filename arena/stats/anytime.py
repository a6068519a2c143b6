"""Interval on a score that stays true at every look, for whoever watches a run live."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats
from arena.stats.estimate import Estimate, EstimateKind, nothing

STEPS = 2000
_CELLS = 1 << 18  # scores times candidate means worked on at once
_LARGEST_BET = 0.5


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """A confidence sequence after `seen` observations of a score in [0, 1].

    Candidate means are multiples of 1/STEPS; those from `first` to `last` are left, with the
    logarithms of what bets against them have earned. `squares` sums the squared deviations
    of each score from the mean up to it, `total` the scores.
    """

    level: float
    seen: int
    total: float
    squares: float
    first: int
    last: int
    log_up: Floats
    log_down: Floats


def watch(level: float = 0.95) -> ConfidenceSequence:
    """The sequence before the first observation: every mean from 0 to 1 is possible."""
    nothing_earned = np.zeros(STEPS + 1)
    return ConfidenceSequence(level, 0, 0.0, 0.0, 0, STEPS, nothing_earned, nothing_earned)


def observe(state: ConfidenceSequence, scores: npt.ArrayLike) -> ConfidenceSequence:
    """The sequence after further `scores`, one per new opening, in schedule order.

    How the scores are cut into calls makes no difference.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise ValueError("a score must be between 0 and 1")
    start = 0
    while start < len(values):
        size = _CELLS // max(1, state.last - state.first + 1)
        state = _observe_batch(state, values[start : start + size])
        start += size
    return state


def anytime_estimate(state: ConfidenceSequence) -> Estimate:
    """Mean score with the anytime-valid interval, widened by one step of the grid."""
    if state.seen == 0:
        return nothing("no games", level=state.level)
    low, high = max(state.first - 1, 0), min(state.last + 1, STEPS)
    # Bets may have ruled out every mean, once in 1 / (1 - level) runs at most.
    low, high = min(low, high), max(low, high)
    return Estimate(
        value=state.total / state.seen,
        low=low / STEPS if low > 0 else None,
        high=high / STEPS if high < STEPS else None,
        level=state.level,
        kind=EstimateKind.ANYTIME,
    )


def _observe_batch(state: ConfidenceSequence, values: Floats) -> ConfidenceSequence:
    """One batch by the bets of Waudby-Smith and Ramdas, section 4 (hedged capital)."""
    bets, total, squares = _bets(state, values)
    candidates = np.arange(state.first, state.last + 1) / STEPS
    up = _running(state.log_up, _up_factors(values, bets, candidates))
    # A bet that a mean is lower is a bet that the mirrored mean is higher.
    down = _running(state.log_down, _up_factors(1.0 - values, bets, 1.0 - candidates))
    limit = math.log(2.0 / (1.0 - state.level))
    # Earnings fall with the candidate for bets upwards, and rise for bets downwards.
    ruled_low = int(np.count_nonzero((up >= limit).any(axis=0)))
    ruled_high = int(np.count_nonzero((down >= limit).any(axis=0)))
    kept = slice(ruled_low, max(ruled_low, len(candidates) - ruled_high))
    return ConfidenceSequence(
        level=state.level,
        seen=state.seen + len(values),
        total=total,
        squares=squares,
        first=state.first + ruled_low,
        last=state.last - ruled_high,
        log_up=up[-1, kept].copy(),
        log_down=down[-1, kept].copy(),
    )


def _bets(state: ConfidenceSequence, values: Floats) -> tuple[Floats, float, float]:
    """Predictable bet on each value, with the sums after the last; only the past is used."""
    alpha = 1.0 - state.level
    count = state.seen + np.arange(1, len(values) + 1)
    totals = np.cumsum(np.concatenate(([state.total], values)))[1:]
    means = (0.5 + totals) / (count + 1)
    deviations = np.square(values - means)
    squares = np.cumsum(np.concatenate(([state.squares], deviations)))
    variance = (0.25 + squares[:-1]) / count
    bets = np.sqrt(2.0 * math.log(2.0 / alpha) / (variance * count * np.log1p(count)))
    return bets, float(totals[-1]), float(squares[-1])


def _up_factors(values: Floats, bets: Floats, candidates: Floats) -> Floats:
    """Logarithm of what each bet on a mean above each candidate earns; rows are observations."""
    largest = np.full(len(candidates), np.inf)
    np.divide(_LARGEST_BET, candidates, out=largest, where=candidates > 0.0)
    staked = np.minimum(bets[:, None], largest)
    return np.asarray(np.log1p(staked * (values[:, None] - candidates)))


def _running(earned: Floats, factors: Floats) -> Floats:
    """Earnings after each observation; a sum in order, so that batches do not matter."""
    return np.cumsum(np.concatenate((earned[None, :], factors)), axis=0)[1:]
