"""Elo after a sequential test, with and without correction for stopping."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arena.stats.elo import elo_estimate, moments, score_from_elo
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import score_estimate
from arena.stats.quantiles import normal_cdf
from arena.stats.sprt import SprtPlan, SprtState, fill_empty_cells, score_bounds

RAW = "raw: ignores the stopping rule"
CORRECTED = "corrected for the stopping rule"
_WIDEST_ELO = 1500.0
_SINES = 12
_IMAGES = 6


class MotionEnd(NamedTuple):
    """The end of a Brownian motion from 0: at `time` it is at `level`, between two bounds."""

    time: float
    level: float
    lower: float
    upper: float


def as_raw(estimate: Estimate) -> Estimate:
    """Label a fixed-size estimate of games that a sequential test ended."""
    if estimate.kind is not EstimateKind.FIXED:
        return estimate
    return replace(estimate, kind=EstimateKind.SPRT, reason=RAW)


def naive_estimate(state: SprtState) -> Estimate:
    """Return the Elo interval of a fixed-size match, which is biased after a stop."""
    scores = np.repeat(np.linspace(0.0, 1.0, len(state.counts)), state.counts)
    return as_raw(elo_estimate(score_estimate(np.arange(len(scores)), scores)))


def median_unbiased_estimate(plan: SprtPlan, state: SprtState) -> Estimate:
    """Return median-unbiased logistic Elo with its 95 % interval, from the LLR as Brownian motion.

    Outcomes are ordered by stage: stopped low early, ..., stopped high early (Siegmund, "Estimation
    following sequential tests", 1978; fishtest). Meant for small Elo; an end that the outcome does
    not determine is None.
    """
    if state.observations == 0:
        return no_estimate("no games")
    ends = [_elo_of_chance(plan, state, chance) for chance in (0.5, 0.975, 0.025)]
    return Estimate(ends[0], ends[1], ends[2], 0.95, EstimateKind.SPRT, CORRECTED)


def _elo_of_chance(plan: SprtPlan, state: SprtState, chance: float) -> float | None:
    """Return the true Elo at which an outcome this low or lower has the given `chance`."""
    low, high = -_WIDEST_ELO, _WIDEST_ELO
    outcome = _outcome(plan, state.counts)
    if outcome.chance(low) < chance:
        return None
    if outcome.chance(high) > chance:
        return None
    for _ in range(60):
        middle = 0.5 * (low + high)
        if outcome.chance(middle) > chance:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


class _Outcome(NamedTuple):
    """An outcome as a Brownian motion, independent of the true Elo."""

    middle: float  # score at which the motion has no drift
    rate: float  # drift per point of score
    deviation: float
    path: MotionEnd

    def chance(self, elo: float) -> float:
        """Return the chance of an outcome at most this high if `elo` is true."""
        drift = (score_from_elo(elo) - self.middle) * self.rate
        return passage_chance(drift, self.deviation, self.path)


def _outcome(plan: SprtPlan, counts: Sequence[int]) -> _Outcome:
    n, mean, variance = moments([float(c) for c in fill_empty_cells(counts)[:, 0]])
    s0, s1 = score_bounds(plan, variance)
    rate = (s1 - s0) / variance
    middle = 0.5 * (s0 + s1)
    lower, upper = plan.bounds
    slope = (mean - middle) * rate
    level = min(max(n * slope, lower), upper)
    time = level / slope if level != n * slope else n
    return _Outcome(middle, rate, math.sqrt(variance) * rate, MotionEnd(time, level, lower, upper))


def passage_chance(drift: float, deviation: float, path: MotionEnd) -> float:
    """Return the chance that a Brownian motion stops low before `path`, or ends no higher than it.

    Two expansions of the same chance: sines for late times, images for early ones (Cox and Miller,
    "The Theory of Stochastic Processes", 1965, section 5.7).
    """
    width = path.upper - path.lower
    # Scale to bounds 1 apart and a variance of 1 per unit of time.
    time = path.time * (deviation / width) ** 2
    slope = drift * width / deviation**2
    start = -path.lower / width
    level = (path.level - path.lower) / width
    expand = _by_sines if time > 0.2 else _by_images
    return min(max(expand(slope, time, start, level), 0.0), 1.0)


def _by_sines(slope: float, time: float, start: float, level: float) -> float:
    """Return the chance for bounds 0 and 1 from the eigenfunctions of the killed motion."""
    n = np.arange(1, _SINES + 1) * math.pi
    rate = 0.5 * (slope**2 + n**2)
    part = np.exp(-0.5 * n**2 * time) * np.sin(n * start) / rate
    turning = slope * np.sin(n * level) - n * np.cos(n * level)
    # The chance to reach the lower bound at any time, minus that of reaching it later, plus that of
    # being low without having stopped. The constant terms of the last two cancel.
    growth = math.exp(slope * (level - start) - 0.5 * slope**2 * time)
    return _chance_of_bottom(slope, start) + growth * float((part * turning).sum())


def _chance_of_bottom(slope: float, start: float) -> float:
    """Return the chance to reach 0 before 1 from `start`."""
    if abs(slope) < 1e-12:
        return 1.0 - start
    if slope < 0.0:
        return math.expm1(2.0 * slope * (1.0 - start)) / math.expm1(2.0 * slope)
    beyond = math.expm1(-2.0 * slope * (1.0 - start)) / math.expm1(-2.0 * slope)
    return math.exp(-2.0 * slope * start) * beyond


def _by_images(slope: float, time: float, start: float, level: float) -> float:
    """Return the chance for bounds 0 and 1 from reflected sources; few matter at early times."""
    root = math.sqrt(time)
    above = 0.0
    for k in range(-_IMAGES, _IMAGES + 1):
        for sign, source in ((1.0, 2.0 * k + start), (-1.0, 2.0 * k - start)):
            end = source + slope * time
            mass = _mass(slope * (source - start), (level - end) / root, (1.0 - end) / root)
            above += sign * mass
    return 1.0 - above - _chance_of_early_top(slope, time, start)


def _chance_of_early_top(slope: float, time: float, start: float) -> float:
    """Return the chance to have reached 1, before 0, by `time`: one passage per image."""
    root = math.sqrt(time)
    ahead = slope * (1.0 - start)
    total = 0.0
    for k in range(-_IMAGES, _IMAGES + 1):
        distance = 1.0 - start + 2.0 * k
        reach = abs(distance)
        with_drift = _tail(ahead - slope * reach, (slope * time - reach) / root)
        against = _tail(ahead + slope * reach, (-slope * time - reach) / root)
        total += math.copysign(with_drift + against, distance)
    return total


def _mass(weight: float, low: float, high: float) -> float:
    """Return exp(weight) times the normal probability between `low` and `high`."""
    if low > 0.0:
        low, high = -high, -low
    return _tail(weight, high) - _tail(weight, low)


def _tail(weight: float, z: float) -> float:
    """Return exp(weight) times the normal distribution function, without overflow."""
    if z < -36.0:
        # Mills's ratio, because the probability itself underflows.
        exponent = weight - 0.5 * z * z
        below = exponent - math.log(math.sqrt(2.0 * math.pi) * -z) if z > -math.inf else -math.inf
    else:
        below = weight + math.log(normal_cdf(z))
    return math.exp(below) if below > -700.0 else 0.0
