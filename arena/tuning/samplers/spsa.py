"""SPSA (simultaneous perturbation stochastic approximation) in small steps, as fishtest has it.

A step plays theta + c delta and theta - c delta and moves theta by the difference of their scores.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from arena.tuning.samplers.registry import FINGERPRINT, SearchPlan, Walk, trial_rng

# The width and the rate of the last step, in units of the ranges: the best setting for Kalah, Owari
# and Othello together. Wider steps miss ridges; a walk of 12,000 games with a lower rate does not
# arrive.
STEP_C, STEP_R = 0.08, 0.010
# This many steps in a row (320 games) in which no game differs are followed by wider steps. The
# sides of an ordinary step differ in most of their 20 games.
UNCHANGED, WIDER, WIDEST = 8, 2.0, 0.5

Floats = NDArray[np.float64]


class SpsaSampler(BaseSampler):
    """A walk of many small steps from the seed weights.

    Trial 0 plays the seed weights. Trials 2n - 1 and 2n are the sides of step n and play the same
    openings, so their difference equals a match between them with half the variance.
    """

    def __init__(self, plan: SearchPlan) -> None:
        self.plan, self.theta = plan, np.array(plan.seed_point)
        self.path = [self.theta]
        self.cut = [np.zeros(len(self.theta), bool)]  # weights that the step moved out of range
        self.upper: tuple[float, object] = (0.0, None)  # score and fingerprint
        self.factor, self.unchanged = 1.0, 0
        self.factors: dict[int, float] = {}  # of the width of each step that has begun
        total = max(plan.trials * plan.pairs, 1)
        self.offset = 0.1 * total
        self.c0 = STEP_C * total**0.101
        self.a0 = STEP_R * STEP_C**2 * (self.offset + total) ** 0.602

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the ranges of all weights."""
        return self.plan.space.distributions()

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return one side of a step around the present theta."""
        step, point = _step(trial.number), self.theta
        if step:
            self.factors.setdefault(step, self.factor)
            sign = 1.0 if trial.number % 2 else -1.0
            point = point + sign * self._width(step) * self._delta(step)
        return self.plan.space.params(point)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a weight of the side; Optuna asks only for weights that are no part of it."""
        return self.sample_relative(study, trial, {})[param_name]

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Move theta after the second side of a step."""
        if values is None or trial.number == 0:
            return
        played = values[0], trial.user_attrs.get(FINGERPRINT)
        if trial.number % 2:
            self.upper = played
        else:
            self._move(_step(trial.number), self.upper[0] - played[0])
            self._widen(_step(trial.number), differs=self.upper[1] != played[1])

    def _move(self, step: int, gain: float) -> None:
        width, planned = self._width(step), self._schedule_width(step)
        # The rate grows with the width, as in the schedule.
        rate = self.a0 / (self.offset + self._pairs(step)) ** 0.602 / planned * (width / planned)
        moved = float(np.clip(rate * (4.0 * self.plan.pairs * gain), -width, width))
        wanted = self.theta + moved * self._delta(step)
        self.theta = np.clip(wanted, 0.0, 1.0)
        self.path.append(self.theta)
        self.cut.append((wanted < 0.0) | (wanted > 1.0))

    def _widen(self, step: int, differs: bool) -> None:
        if self.factors[step] != self.factor:
            return  # the step began before the width changed
        self.unchanged = 0 if differs else self.unchanged + 1
        if self.unchanged == UNCHANGED and self._width(step) < WIDEST:
            self.factor, self.unchanged = WIDER * self.factor, 0

    @property
    def walk(self) -> Walk:
        """The mean of the last half of the walk: theta itself lags behind the steps in progress."""
        point = np.asarray(np.mean(self.path[len(self.path) // 2 :], axis=0))
        clipped = np.any(self.cut[3 * len(self.cut) // 4 :], axis=0)
        return Walk(point, tuple(map(bool, clipped)), self.factor > 1.0)

    def _pairs(self, step: int) -> float:
        return float(2 * self.plan.pairs * step)

    def _schedule_width(self, step: int) -> float:
        return float(self.c0 / self._pairs(step) ** 0.101)

    def _width(self, step: int) -> float:
        planned, factor = self._schedule_width(step), self.factors[step]
        return planned if factor == 1.0 else max(planned, min(factor * planned, WIDEST))

    def _delta(self, step: int) -> Floats:
        rng = trial_rng(self.plan.seed, step)
        return np.where(rng.random(len(self.theta)) < 0.5, -1.0, 1.0)


def _step(number: int) -> int:
    return (number + 1) // 2
