"""Stop rules of a match: a sequential test, an interval of a given width, and giving up."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.stats.anytime import betting_interval
from arena.stats.counts import Floats
from arena.stats.elo import NATURAL, elo_estimate, moments
from arena.stats.estimate import FEW_OPENINGS, Estimate, EstimateKind, Scope
from arena.stats.intervals import estimate_from_spread
from arena.stats.match_estimate import MatchEstimate, answer_of_score
from arena.stats.quantiles import normal_cdf, normal_quantile, t_cdf
from arena.stats.sample_size import mean_and_variance, score_shares, smooth_score_shares
from arena.stats.spread import QUARTERS, Spread
from arena.stats.sprt import (
    Decision,
    SprtPlan,
    SprtState,
    finish_sprt,
    score_bounds,
    start_sprt,
    update_sprt,
)

# A match gives up once its rule would end it within its pairs with at most this chance.
GIVE_UP_ERROR = 0.05
# The rule is evaluated this often between n and 2 n pairs; giving up from a test costs more.
WIDTH_LOOKS, SPRT_LOOKS = 64, 16
FEWEST_PAIRS = 20  # before a match gives up
MIN_WIDTH, MAX_WIDTH = 1.0, 400.0  # Elo
# Few pairs may show too little of what varies: at least that of typical pairs (TYPICAL).
_LEAST_INFLUENCE = 0.375
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, slots=True)
class WidthPlan:
    """Play until half the width of the Elo interval is at most `width`."""

    width: float
    level: ClassVar[float] = 0.95
    min_distinct: ClassVar[int] = FEW_OPENINGS

    def __post_init__(self) -> None:
        if not MIN_WIDTH <= self.width <= MAX_WIDTH:
            raise ValueError(
                f"width must be from {MIN_WIDTH:g} to {MAX_WIDTH:g} Elo, got {self.width:g}"
            )

    @property
    def fixed_level(self) -> float:
        """Return the level of the fixed-size interval that holds at every pair up to the last.

        Jennison and Turnbull, "Interim analyses: the repeated confidence interval approach" (1989),
        with a constant boundary: by the reflection principle a Brownian motion leaves it before
        time T at most twice as often as it is outside at T.
        """
        return 1.0 - 0.5 * (1.0 - self.level)


@dataclass(frozen=True, slots=True)
class WidthState:
    """A match after some observations; `needed` pairs give the width if nothing changes."""

    counts: tuple[int, int, int, int, int]
    half_width: float | None
    needed: float | None
    decision: Decision

    @property
    def observations(self) -> int:
        """Return the number of distinct openings used."""
        return sum(self.counts)

    @property
    def is_finished(self) -> bool:
        """Return whether the match has ended."""
        return self.decision is not Decision.RUNNING


StopPlan: TypeAlias = SprtPlan | WidthPlan
StopState: TypeAlias = SprtState | WidthState


def start_stop(plan: StopPlan) -> StopState:
    """Return the state before the first observation."""
    if isinstance(plan, SprtPlan):
        return start_sprt(plan)
    return WidthState((0, 0, 0, 0, 0), None, None, Decision.RUNNING)


def update_stop(
    plan: StopPlan, state: StopState, scores: npt.ArrayLike, most: int | None = None
) -> StopState:
    """Return the state after further pair scores, one per new opening, in schedule order.

    The match gives up if `most` pairs will hardly end it; None: it never gives up. The result does
    not depend on how the scores are divided into calls.
    """
    values = np.asarray(scores, dtype=np.float64)
    for piece in _pieces(plan, state.observations, len(values), most):
        if state.is_finished:
            break
        state = _add_scores(plan, state, values[piece])
        pairs = state.observations
        if most is None or state.is_finished or not FEWEST_PAIRS <= pairs < most:
            continue
        if _is_look(plan, pairs) and chance_to_end(plan, state, most) <= GIVE_UP_ERROR:
            state = replace(state, decision=Decision.GAVE_UP)
    return state


def finish_stop(state: StopState) -> StopState:
    """Return the state when no opening is left: undecided, unless it was decided before."""
    if isinstance(state, SprtState):
        return finish_sprt(state)
    return state if state.is_finished else replace(state, decision=Decision.UNDECIDED)


def _is_look(plan: StopPlan, pairs: int) -> bool:
    """Return whether the rule looks at the results after this many pairs."""
    looks = SPRT_LOOKS if isinstance(plan, SprtPlan) else WIDTH_LOOKS
    return (
        pairs >= plan.min_distinct and pairs % max(1, (1 << pairs.bit_length() - 1) // looks) == 0
    )


def _pieces(plan: StopPlan, done: int, size: int, most: int | None) -> Iterator[slice]:
    """Yield the scores up to each look; a test that never gives up needs none."""
    start = 0
    for stop in range(1, size + 1):
        looks = most is not None or isinstance(plan, WidthPlan)
        if stop == size or (looks and _is_look(plan, done + stop)):
            yield slice(start, stop)
            start = stop


def _add_scores(plan: StopPlan, state: StopState, scores: Floats) -> StopState:
    """Return the state after scores up to the next look."""
    if isinstance(plan, SprtPlan):
        assert isinstance(state, SprtState)
        return update_sprt(plan, state, scores)
    seen = np.bincount(np.rint(4.0 * scores).astype(np.int64), minlength=5)
    ll, ld, even, wd, ww = (n + m for n, m in zip(state.counts, seen.tolist(), strict=True))
    after = WidthState((ll, ld, even, wd, ww), None, None, Decision.RUNNING)
    if not _is_look(plan, after.observations):
        return after
    width = math.exp(_log_half_width(plan, after.counts, after.observations).value)
    if width <= plan.width:  # the interval itself is wider
        width = half_width(width_score(plan, _spread_of_counts(after.counts))) or width
    return WidthState(
        after.counts,
        width,
        after.observations * (width / plan.width) ** 2,
        Decision.WIDTH if width <= plan.width else Decision.RUNNING,
    )


def pairs_for_width(plan: WidthPlan, counts: Sequence[int]) -> float:
    """Return the number of pairs that the width takes, with the shares of these counts."""
    one_pair = _log_half_width(plan, counts, pairs=1).value
    return (math.exp(one_pair) / plan.width) ** 2


class _LogWidth(NamedTuple):
    """The logarithm of a width, and n times its variance after n pairs (delta method)."""

    value: float
    variance: float


def _log_half_width(plan: WidthPlan, counts: Sequence[int], pairs: int) -> _LogWidth:
    """Return half the width in Elo, z SD / sqrt(pairs), with half a pair at either end."""
    shares = smooth_score_shares(counts)
    mean, variance = mean_and_variance(shares)
    spare = mean * (1.0 - mean)
    skew = (1.0 - 2.0 * mean) / spare
    of_influence = 0.0
    for share, score in zip(shares, QUARTERS, strict=True):
        off = score - mean
        of_influence += share * (0.5 * (off * off / variance - 1.0) - skew * off) ** 2
    quantile = normal_quantile(0.5 + 0.5 * plan.fixed_level)
    half = quantile * math.sqrt(variance / pairs) / (NATURAL * spare)
    return _LogWidth(math.log(half), of_influence)


def _spread_of_counts(counts: Sequence[int]) -> Spread:
    pairs = sum(counts)
    shares = score_shares(counts)
    mean, variance = mean_and_variance(shares)
    se, dof = math.sqrt(variance / (pairs - 1)), float(pairs - 1)
    return Spread(Scope.LIKE, pairs, pairs, mean, variance, se, dof, QUARTERS, shares, pairs)


def half_width(score: Estimate) -> float | None:
    """Return half the width of the Elo interval of a score; None if an end is missing."""
    elo = elo_estimate(score)
    return None if elo.low is None or elo.high is None else 0.5 * (elo.high - elo.low)


def width_score(plan: WidthPlan, found: Spread) -> Estimate:
    """Return the score in the interval that ends a match at its width."""
    return as_anytime(plan, estimate_from_spread(found, plan.fixed_level))


def as_anytime(plan: WidthPlan, estimate: Estimate) -> Estimate:
    """Label a fixed-size estimate at the level `plan.fixed_level`."""
    if estimate.kind is not EstimateKind.FIXED:
        return replace(estimate, level=plan.level)
    return replace(estimate, kind=EstimateKind.ANYTIME, level=plan.level)


def anytime_row(plan: WidthPlan, row: MatchEstimate, pairs: int) -> MatchEstimate:
    """Return a match, estimated at `plan.fixed_level`, with intervals that are anytime-valid.

    The interval that ends a match holds up to a number of pairs that is fixed: those that give the
    width, or all `pairs`. A match that ended before has the interval by betting.
    """
    width, found = half_width(row.like.score), row.like.spread
    early = found.openings == found.pairs < pairs and (width is None or width > plan.width)
    row = row.map_answers(lambda answer: answer.map_estimates(lambda e: as_anytime(plan, e)))
    if early and row.like.score.kind is EstimateKind.ANYTIME:
        counts = np.rint(np.array(found.shares) * found.pairs)
        ends = betting_interval(counts, 1.0 - plan.level)
        low, high = (float(end) if 0.0 < end < 1.0 else None for end in ends)
        score = replace(row.like.score, low=low, high=high)
        row = replace(row, like=answer_of_score(found, score))
    return replace(row, superiority=None)


def chance_to_end(plan: StopPlan, state: StopState, most: int) -> float:
    """Return the chance that the rule ends the match within `most` pairs, from the results so far.

    The predictive probability with a flat prior (Spiegelhalter, Freedman and Blackburn, "Monitoring
    clinical trials: conditional or predictive power?", 1986). It is a martingale, so looking
    repeatedly does not make it wrong.
    """
    if isinstance(plan, SprtPlan):
        assert isinstance(state, SprtState)
        return _chance_of_decision(plan, state, most - state.observations)
    pairs = state.observations
    now = _log_half_width(plan, state.counts, pairs)
    variance = max(now.variance, _LEAST_INFLUENCE)
    deviation = math.sqrt(variance * (1.0 / pairs - 1.0 / most))
    at_end = now.value - 0.5 * math.log(most / pairs)
    # The width may be reached before the end: at most twice as often (reflection principle).
    return min(2.0 * t_cdf((math.log(plan.width) - at_end) / deviation, pairs - 1.0), 1.0)


def _chance_of_decision(plan: SprtPlan, state: SprtState, left: int) -> float:
    """Return the chance that the LLR, as a Brownian motion of unknown drift, reaches a bound."""
    shares = smooth_score_shares(state.counts)
    _, mean, variance = moments(shares)
    s0, s1 = score_bounds(plan, variance)
    rate = (s1 - s0) / variance
    drift, deviation = (mean - 0.5 * (s0 + s1)) * rate, math.sqrt(variance) * rate
    chance = 0.0
    for node, weight in zip(_NODES, _WEIGHTS / _WEIGHTS.sum(), strict=True):
        true = drift + node * deviation / math.sqrt(state.observations)
        for distance, sign in ((state.upper - state.llr, 1.0), (state.llr - state.lower, -1.0)):
            chance += weight * _passage_chance(sign * true, deviation, distance, left)
    return min(float(chance), 1.0)


def _passage_chance(drift: float, deviation: float, distance: float, time: int) -> float:
    """Return the chance that a Brownian motion reaches `distance` above it within `time`."""
    if distance <= 0.0:
        return 1.0
    root = deviation * math.sqrt(time)
    direct = normal_cdf((drift * time - distance) / root)
    exponent = 2.0 * drift * distance / deviation**2
    tail = normal_cdf((-drift * time - distance) / root)
    return direct + (math.exp(exponent + math.log(tail)) if tail > 0.0 else 0.0)
