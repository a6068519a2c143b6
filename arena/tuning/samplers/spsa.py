"""SPSA in small steps with fishtest's schedule: theta + c delta plays beside theta - c delta."""

import numpy as np
from numpy.typing import NDArray

from arena.tuning.samplers.registry import SearchPlan, trial_rng
from arena.tuning.space import Point
from arena.tuning.surrogate import Floats

SHARING = 2  # a step is two sides on the same openings
PAIRS = 10  # of a side, whatever the budget: the first of few large steps end in corners
# At the end, in units of the ranges: the best setting for Kalah, Owari and Othello together. Wider
# steps blunt ridges; with a lower rate a walk of 12,000 games does not arrive.
STEP_C, STEP_R = 0.08, 0.010
# So many steps in a row without a game that differs, 320 games, are followed by wider ones. Both
# sides of an ordinary step differ in most of their 20 games.
UNCHANGED, WIDER, WIDEST = 8, 2.0, 0.5

Bools = NDArray[np.bool_]


class SpsaSampler:
    """A walk of many small steps; the mean of its last half is where it has arrived.

    Both sides play the same opponents from the same openings, so their difference stands for a
    match between them at half its rate.
    """

    def __init__(self, plan: SearchPlan) -> None:
        """The walk begins at the seed's point; its steps are as many as the plan has sides for."""
        self.plan, self.theta = plan, np.array(plan.seed_point)
        self.path = [self.theta]
        self.cut: list[Bools] = [np.zeros(len(self.theta), bool)]  # where a step left the cube
        self.upper_score = 0.0
        self.widened, self.unchanged = 1.0, 0
        self.factors: dict[int, float] = {}  # of the width of each step, once it is proposed
        total = max(plan.trials * plan.pairs, 1)
        self.offset = 0.1 * total
        self.c0 = STEP_C * total**0.101
        self.a0 = STEP_R * STEP_C**2 * (self.offset + total) ** 0.602

    def propose(self, slot: int) -> Point:
        """The seed's point first; then around the current theta."""
        point = np.array(self.theta)
        if slot > 0:
            sign = 1.0 if slot % 2 else -1.0
            self.factors.setdefault(_step(slot), self.widened)
            point = self.theta + sign * self._width(slot) * self._delta(slot)
        return self.plan.space.snapped(point)

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """The second side of a step moves theta by the difference of their scores."""
        if slot % 2:
            self.upper_score = score
        elif slot > 0:
            gained = 4.0 * self.plan.pairs * (self.upper_score - score)
            width = self._width(slot)
            # The rate grows with the width, as that of the schedule does.
            own = self._own_width(slot)
            rate = self.a0 / (self.offset + self._played(slot)) ** 0.602 / own * (width / own)
            moved = float(np.clip(rate * gained, -width, width))
            wanted = self.theta + moved * self._delta(slot)
            self.theta = np.clip(wanted, 0.0, 1.0)
            self.path.append(self.theta)
            self.cut.append((wanted < 0.0) | (wanted > 1.0))

    def step_played(self, slot: int, differs: bool) -> None:
        """Take wider steps after some of the present width in which no game differed."""
        if self.factors[_step(slot)] != self.widened:
            return  # it was under way when the width changed
        self.unchanged = 0 if differs else self.unchanged + 1
        if self.unchanged == UNCHANGED and self._width(slot) < WIDEST:
            self.widened, self.unchanged = WIDER * self.widened, 0

    @property
    def final(self) -> Point:
        """The mean of the last half: theta itself lags behind the steps under way."""
        return np.asarray(np.mean(self.path[len(self.path) // 2 :], axis=0))

    @property
    def clipped(self) -> tuple[bool, ...]:
        """Which weights were held back by an edge of their range in the last quarter."""
        return tuple(map(bool, np.any(self.cut[3 * len(self.cut) // 4 :], axis=0)))

    def _played(self, slot: int) -> float:
        """Pairings after the step of this slot."""
        return float(2 * self.plan.pairs * _step(slot))

    def _own_width(self, slot: int) -> float:
        """The width by the schedule."""
        return float(self.c0 / self._played(slot) ** 0.101)

    def _width(self, slot: int) -> float:
        own, factor = self._own_width(slot), self.factors[_step(slot)]
        return own if factor == 1.0 else max(own, min(factor * own, WIDEST))

    def _delta(self, slot: int) -> Floats:
        """The signs of one step: the same for both of its sides."""
        rng = trial_rng(self.plan.seed, _step(slot))
        return np.where(rng.random(len(self.theta)) < 0.5, -1.0, 1.0)


def _step(slot: int) -> int:
    """The number of the step to which a slot belongs."""
    return (slot + 1) // 2


def build(plan: SearchPlan) -> SpsaSampler:
    """The sampler at its first slot."""
    return SpsaSampler(plan)
