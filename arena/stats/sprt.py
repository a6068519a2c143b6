"""The pentanomial sequential probability ratio test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.elo import ELO_PER_SIGMA, score_from_elo
from arena.stats.estimate import FEW_OPENINGS

EMPTY_CELL = 1e-3
_OUTER_STEPS = 10
_ROOT_STEPS = 100


class EloModel(StrEnum):
    """The unit of the bounds of a test: the same number is a different test in each."""

    LOGISTIC = "logistic"
    NORMALIZED = "normalized"


def log_likelihood_ratio(
    counts: npt.ArrayLike, elo0: float, elo1: float, model: EloModel
) -> Floats:
    """Return the LLR of `elo1` against `elo0` for counts of equally spaced scores, 0 to 1.

    The last axis has three counts for games or five for pairs. Van den Bergh, "A practical
    introduction to the GSPRT" (fishtest, fastchess). Each LLR depends on its own counts only.
    """
    cells = fill_empty_cells(counts)
    number = cells.sum(axis=0)
    shares = cells / number
    support = np.linspace(0.0, 1.0, len(cells))[:, None]
    laws = [_law_of_hypothesis(shares, support, elo, model) for elo in (elo0, elo1)]
    llr = number * (shares * np.log(laws[1] / laws[0])).sum(axis=0)
    return np.asarray(llr.reshape(np.shape(counts)[:-1]), dtype=np.float64)


def fill_empty_cells(counts: npt.ArrayLike) -> Floats:
    """Return counts as columns, with 0.001 in empty cells (fishtest, fastchess)."""
    table = np.asarray(counts, dtype=np.float64)
    columns = np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T)
    return np.where(columns == 0.0, EMPTY_CELL, columns)


def _law_of_hypothesis(shares: Floats, support: Floats, elo: float, model: EloModel) -> Floats:
    """Return the most likely distribution on `support` under the hypothesis `elo`."""
    if model is EloModel.LOGISTIC:
        return _tilt(shares, support - score_from_elo(elo))
    per_observation = math.sqrt(2.0) if len(support) == 5 else 1.0
    return _law_of_normalized_elo(shares, support, elo / ELO_PER_SIGMA * per_observation)


def _law_of_normalized_elo(shares: Floats, support: Floats, excess: float) -> Floats:
    """Return the most likely distribution whose mean exceeds 1/2 by `excess` standard deviations.

    Van den Bergh, "Normalized Elo": the constraint is linearised around the current distribution.
    """
    law = np.full_like(shares, 1.0 / len(support))
    moving = np.ones(shares.shape[1], dtype=np.bool_)
    for _ in range(_OUTER_STEPS):
        mean = (law * support).sum(axis=0)
        deviation = np.sqrt((law * np.square(support - mean)).sum(axis=0))
        curved = 1.0 + np.square((support - mean) / deviation)
        following = _tilt(shares, support - 0.5 - 0.5 * excess * deviation * curved)
        change = np.abs(following - law).max(axis=0)
        law = np.where(moving, following, law)
        moving &= change >= 1e-9
        if not moving.any():
            break
    return law


def _tilt(shares: Floats, excess: Floats) -> Floats:
    """Return the distribution closest to `shares` in likelihood under which `excess` has mean zero.

    It is shares / (1 + theta excess), theta the root of sum shares excess / (1 + theta excess).
    """
    low = -1.0 / excess.max(axis=0)
    high = -1.0 / excess.min(axis=0)
    theta = np.zeros(shares.shape[1])
    moving = np.ones(shares.shape[1], dtype=np.bool_)
    for _ in range(_ROOT_STEPS):
        ratio = excess / (1.0 + theta * excess)
        miss = (shares * ratio).sum(axis=0)
        low = np.where(miss > 0.0, theta, low)
        high = np.where(miss < 0.0, theta, high)
        step = miss / (shares * np.square(ratio)).sum(axis=0)
        # Stay away from the ends: near a pole, Newton's steps are small but the error is large.
        step = np.clip(step, 0.9 * (low - theta), 0.9 * (high - theta))
        following = theta + step
        close = np.abs(following - theta) <= 1e-13 * (1.0 + np.abs(theta))
        # Each column stops separately, so that its result does not depend on the others.
        theta = np.where(moving, following, theta)
        moving &= ~close & (miss != 0.0)
        if not moving.any():
            break
    return shares / (1.0 + theta * excess)


# Normalized Elo has no solution far beyond these.
LARGEST_ELO = {EloModel.LOGISTIC: 800.0, EloModel.NORMALIZED: 200.0}


class Decision(StrEnum):
    """The state of a test; `UNDECIDED` means that no opening is left."""

    RUNNING = "running"
    ELO0 = "elo0 accepted"
    ELO1 = "elo1 accepted"
    UNDECIDED = "undecided"
    WIDTH = "width reached"
    GAVE_UP = "gave up"


@dataclass(frozen=True, slots=True)
class SprtPlan:
    """A test of `elo1` against `elo0`; `cells` is 5 for pairs, 3 for unpaired games.

    `alpha` is the chance to accept `elo1` if `elo0` is true, `beta` the reverse.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: EloModel = EloModel.LOGISTIC
    cells: int = 5
    min_distinct: int = FEW_OPENINGS

    def __post_init__(self) -> None:
        largest = LARGEST_ELO[self.model]
        if not -largest <= self.elo0 < self.elo1 <= largest:
            raise ValueError(
                f"elo0 < elo1 must hold, both within ±{largest:g} {self.model} Elo, "
                f"got {self.elo0:g} and {self.elo1:g}"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < value < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, got {value:g}")
        if self.cells not in (3, 5):
            raise ValueError(f"cells must be 3 (games) or 5 (pairs), got {self.cells}")

    @property
    def bounds(self) -> tuple[float, float]:
        """Return Wald's bounds on the LLR, before any correction."""
        return (
            math.log(self.beta / (1.0 - self.alpha)),
            math.log((1.0 - self.beta) / self.alpha),
        )


@dataclass(frozen=True, slots=True)
class SprtState:
    """A test after some observations.

    `lowest` and `highest` are the extremes of the LLR so far, including the start at 0.
    `low_squares` and `high_squares` sum the squared jumps that led to them.
    """

    counts: tuple[int, ...]
    llr: float
    lowest: float
    highest: float
    low_squares: float
    high_squares: float
    lower: float
    upper: float
    decision: Decision

    @property
    def observations(self) -> int:
        """Return the number of distinct openings used."""
        return sum(self.counts)

    @property
    def is_finished(self) -> bool:
        """Return whether the test has ended."""
        return self.decision is not Decision.RUNNING


def start_sprt(plan: SprtPlan) -> SprtState:
    """Return the test before the first observation."""
    lower, upper = plan.bounds
    counts = (0,) * plan.cells
    return SprtState(counts, 0.0, 0.0, 0.0, 0.0, 0.0, lower, upper, Decision.RUNNING)


def update_sprt(plan: SprtPlan, state: SprtState, scores: npt.ArrayLike) -> SprtState:
    """Return the test after further `scores`, one per new opening, in schedule order.

    It is evaluated after each score and ignores scores after its decision. The result does not
    depend on how the scores are divided into calls.
    """
    cells = _score_cells(plan, scores)
    if state.is_finished or len(cells) == 0:
        return state
    tables = np.array(state.counts) + np.cumsum(np.eye(plan.cells, dtype=np.int64)[cells], axis=0)
    llr = log_likelihood_ratio(tables, plan.elo0, plan.elo1, plan.model)
    lowest, low_squares = _records(-llr, -state.lowest, state.low_squares)
    highest, high_squares = _records(llr, state.highest, state.high_squares)
    lower = plan.bounds[0] + _overshoot(lowest, low_squares)
    upper = plan.bounds[1] - _overshoot(highest, high_squares)
    ready = tables.sum(axis=1) >= plan.min_distinct
    at = _first_place(ready & ((llr <= lower) | (llr >= upper)))
    decision = Decision.RUNNING
    if at is None:
        at = len(cells) - 1
    else:
        decision = Decision.ELO1 if llr[at] >= upper[at] else Decision.ELO0
    return SprtState(
        counts=tuple(int(n) for n in tables[at]),
        llr=float(llr[at]),
        lowest=0.0 - float(lowest[at]),
        highest=float(highest[at]),
        low_squares=float(low_squares[at]),
        high_squares=float(high_squares[at]),
        lower=float(lower[at]),
        upper=float(upper[at]),
        decision=decision,
    )


def finish_sprt(state: SprtState) -> SprtState:
    """Return the test when no opening is left: undecided, unless it was decided before."""
    return state if state.is_finished else replace(state, decision=Decision.UNDECIDED)


def _records(llr: Floats, record: float, squares: float) -> tuple[Floats, Floats]:
    """Return the maximum after each observation, with the running sum of its squared jumps."""
    highs = np.maximum.accumulate(np.concatenate(([record], llr)))
    jumps = np.square(np.diff(highs))
    return highs[1:], np.cumsum(np.concatenate(([squares], jumps)))[1:]


def _overshoot(record: Floats, squares: Floats) -> Floats:
    """Return the mean excess over a bound: half the mean squared jump over the mean jump.

    Siegmund, "Sequential Analysis" (1985), chapter 8, as fishtest applies it.
    """
    return np.divide(squares, 2.0 * record, out=np.zeros_like(record), where=record > 0.0)


def _first_place(flags: npt.NDArray[np.bool_]) -> int | None:
    return int(np.argmax(flags)) if flags.any() else None


def _score_cells(plan: SprtPlan, scores: npt.ArrayLike) -> Ints:
    top = plan.cells - 1
    scaled = top * np.asarray(scores, dtype=np.float64)
    cells = np.rint(scaled).astype(np.int64)
    if np.any((cells != scaled) | (cells < 0) | (cells > top)):
        raise ValueError(f"a score must be a multiple of 1/{top} from 0 to 1")
    return cells


def score_bounds(plan: SprtPlan, variance: float) -> tuple[float, float]:
    """Return both hypotheses as mean scores, if one observation has this `variance`."""
    if plan.model is EloModel.LOGISTIC:
        return score_from_elo(plan.elo0), score_from_elo(plan.elo1)
    games = 2 if plan.cells == 5 else 1
    per_elo = math.sqrt(games * variance) / ELO_PER_SIGMA
    return 0.5 + per_elo * plan.elo0, 0.5 + per_elo * plan.elo1


def mean_test_length(plan: SprtPlan, variance: float, score: float) -> float:
    """Return the mean length at a true mean `score` (Wald; Brownian motion without overshoot)."""
    lower, upper = plan.bounds
    s0, s1 = score_bounds(plan, variance)
    drift = (score - 0.5 * (s0 + s1)) * (s1 - s0) / variance
    diffusion = (s1 - s0) ** 2 / variance
    slope = 2.0 * drift / diffusion
    if abs(slope) * (upper - lower) < 1e-6:
        return -lower * upper / diffusion
    accept = _chance_of_upper(slope, lower, upper)
    return (accept * upper + (1.0 - accept) * lower) / drift


def _chance_of_upper(slope: float, lower: float, upper: float) -> float:
    """Return the chance that a Brownian motion with 2 drift / variance = `slope` exits above."""
    if slope < 0.0:
        return 1.0 - _chance_of_upper(-slope, -upper, -lower)
    return math.expm1(slope * lower) / math.expm1(slope * (lower - upper))


def mean_test_lengths(plan: SprtPlan, variance: float) -> Sequence[float]:
    """Return the mean number of observations at `elo0`, half-way, and at `elo1`."""
    s0, s1 = score_bounds(plan, variance)
    return [mean_test_length(plan, variance, s) for s in (s0, 0.5 * (s0 + s1), s1)]
