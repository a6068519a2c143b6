"""Our own Gaussian process: the best point of one surface drawn from the posterior."""

import math

import numpy as np

from arena.tuning.samplers.registry import SearchPlan, seeded
from arena.tuning.space import Point
from arena.tuning.surrogate import Posterior, Trials, conditioned, few, fitted

LEAST_FITTED = 8
LEAST_RANDOM, RANDOM_SHARE = 10, 5  # a fifth of the trials, but not fewer than ten
REFIT = 1.3  # lengths are fitted again after this growth in the number of trials
THOMPSON_POINTS = 300
THOMPSON_TRIALS = 200
NEAR_STEP = 0.12


class ThompsonSampler:
    """Random points first, the seed's at their head; then where one drawn surface is highest."""

    def __init__(self, plan: SearchPlan) -> None:
        """Nothing is known yet."""
        self.plan, self.startup = plan, max(LEAST_RANDOM, plan.trials // RANDOM_SHARE)
        self.points: list[Point] = []
        self.scores: list[float] = []
        self.noise: list[float] = []
        self.fit: Posterior | None = None
        self.fit_size = 0

    def propose(self, slot: int) -> Point:
        """Random at first; then where one drawn surface is highest."""
        space, rng = self.plan.space, seeded(self.plan.seed, slot)
        if slot == 0:
            return space.snapped(self.plan.begin)
        if slot < self.startup or len(self.scores) < LEAST_FITTED:
            return space.snapped(rng.random(len(space.axes)))
        return space.snapped(self._drawn(rng))

    def resume(self, slot: int, point: Point) -> None:
        """Nothing to do: a proposal depends on results only."""

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """Remember a result."""
        self.points.append(point)
        self.scores.append(score)
        self.noise.append(noise)

    def _drawn(self, rng: np.random.Generator) -> Point:
        posterior = self._posterior()
        dims = len(self.plan.space.axes)
        tried = posterior.trials.points
        best = tried[int(np.argmax(posterior.means(tried)))]
        near = np.clip(
            best + NEAR_STEP * rng.standard_normal((THOMPSON_POINTS // 2, dims)), 0.0, 1.0
        )
        points = np.concatenate([rng.random((THOMPSON_POINTS // 2, dims)), near])
        root = np.linalg.cholesky(posterior.covariance(points) + 1e-9 * np.eye(len(points)))
        drawn = posterior.means(points) + root @ rng.standard_normal(len(points))
        return np.asarray(points[int(np.argmax(drawn))])

    def _posterior(self) -> Posterior:
        """The process after all trials; its lengths come from a fit to the first of them.

        How many are fitted depends only on how many there are, so that a search that was
        interrupted continues with the same process.
        """
        trials = Trials(np.array(self.points), np.array(self.scores), np.array(self.noise))
        size = LEAST_FITTED
        while REFIT * size <= len(trials.scores):
            size = math.floor(REFIT * size)
        if self.fit is None or size != self.fit_size:
            first = Trials(*(column[:size] for column in trials))
            self.fit, self.fit_size = fitted(few(first, THOMPSON_TRIALS)), size
        return conditioned(few(trials, THOMPSON_TRIALS), self.fit.signal, self.fit.lengths)


def build(plan: SearchPlan) -> ThompsonSampler:
    """The sampler at its first slot."""
    return ThompsonSampler(plan)
