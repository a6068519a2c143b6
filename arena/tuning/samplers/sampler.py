"""Which point to try next: our own Gaussian process, CMA-ES and SPSA behind one protocol."""

import math
from typing import Protocol

import numpy as np
from cmaes import CMA  # type: ignore[import-untyped]  # it ships no types

from arena.planning.pairing_seeds import digest_word
from arena.tuning.gaussian_process import Floats, Posterior, Trials, conditioned, few, fitted
from arena.tuning.space import Point, Space

LEAST_FITTED = 8
REFIT = 1.3  # lengths are fitted again when there are so many times more trials
THOMPSON_POINTS = 300
THOMPSON_TRIALS = 200
NEAR_STEP = 0.12
STEP_C, STEP_R = 0.15, 0.005  # SPSA at its end, in units of the ranges
SIGMA = 0.3  # CMA-ES begins so wide


class Proposer(Protocol):
    """Proposes points slot by slot; what it answers depends only on what it was asked and told."""

    def propose(self, slot: int) -> Point:
        """The point for a slot; called once a slot, in order."""

    def known(self, slot: int, point: Point) -> None:
        """Instead of `propose`: the point of this slot was proposed before an interruption."""

    def tell(self, slot: int, score: float, noise: float) -> None:
        """The score of a slot's point and the variance of that score; called in order."""

    @property
    def final(self) -> Point | None:
        """Where a method that walks has arrived; None if the posterior decides."""


def seeded(seed: int, slot: int) -> np.random.Generator:
    """Chance for one slot: the same after a restart, another for every slot."""
    return np.random.default_rng(int(digest_word("tuning", seed, slot)))


class History:
    """Points by slot, and the scores of those that were told."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.points: list[Point] = []
        self.scores: list[float] = []
        self.noise: list[float] = []

    def tell(self, score: float, noise: float) -> None:
        """The result of the next slot."""
        self.scores.append(score)
        self.noise.append(noise)

    @property
    def trials(self) -> Trials:
        """What was told."""
        done = len(self.scores)
        return Trials(np.array(self.points[:done]), np.array(self.scores), np.array(self.noise))


class ThompsonProposer:
    """Our own Gaussian process: the best point of one surface drawn from the posterior."""

    def __init__(self, space: Space, seed_point: Point, seed: int, startup: int) -> None:
        """The first point is the seed's, then random ones until `startup` were proposed."""
        self.space, self.seed, self.startup = space, seed, max(startup, LEAST_FITTED)
        self.seed_point, self.history = seed_point, History()
        self.fit: Posterior | None = None
        self.fit_size = 0

    def propose(self, slot: int) -> Point:
        """Random at first; then where one drawn surface is highest."""
        rng = seeded(self.seed, slot)
        if slot == 0:
            point = self.seed_point
        elif slot < self.startup or len(self.history.scores) < LEAST_FITTED:
            point = rng.random(len(self.space.axes))
        else:
            point = self._drawn(rng)
        point = self.space.snapped(point)
        self.known(slot, point)
        return point

    def known(self, slot: int, point: Point) -> None:
        """Remember a point."""
        self.history.points.append(point)

    def tell(self, slot: int, score: float, noise: float) -> None:
        """Remember a result."""
        self.history.tell(score, noise)

    @property
    def final(self) -> Point | None:
        """The posterior decides."""
        return None

    def _drawn(self, rng: np.random.Generator) -> Point:
        posterior = self._posterior()
        dims = len(self.space.axes)
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

        How many those are depends on nothing but how many there are, so that a search that
        was interrupted goes on with the same process.
        """
        trials = self.history.trials
        size = LEAST_FITTED
        while REFIT * size <= len(trials.scores):
            size = math.floor(REFIT * size)
        if self.fit is None or size != self.fit_size:
            first = Trials(*(column[:size] for column in trials))
            self.fit, self.fit_size = fitted(few(first, THOMPSON_TRIALS)), size
        kept = few(trials, THOMPSON_TRIALS)
        return conditioned(kept, self.fit.signal, self.fit.lengths)


class CmaProposer:
    """CMA-ES (Hansen), by the package `cmaes`; a generation is told when all of it is played."""

    def __init__(self, space: Space, seed_point: Point, seed: int) -> None:
        """It begins around the seed's point."""
        dims = len(space.axes)
        # The covariance of one number cannot be rotated: a second, idle one stands beside it.
        self.idle = 1 if dims == 1 else 0
        mean = np.concatenate([seed_point, np.full(self.idle, 0.5)])
        bounds = np.array([[0.0, 1.0]] * (dims + self.idle))
        self.cma = CMA(mean, SIGMA, bounds=bounds, seed=int(digest_word(seed)) % 2**32)
        self.space, self.seed_point, self.history = space, seed_point, History()
        self.used = 0

    def propose(self, slot: int) -> Point:
        """The seed's point first, then points of the current generation."""
        asked = self.cma.ask()[: len(self.space.axes)]
        point = self.space.snapped(self.seed_point if slot == 0 else asked)
        self.history.points.append(point)
        return point

    def known(self, slot: int, point: Point) -> None:
        """Ask as before, so that later answers are the same too."""
        self.propose(slot)
        self.history.points[-1] = point

    def tell(self, slot: int, score: float, noise: float) -> None:
        """Remember a result; a whole generation moves the search."""
        self.history.tell(score, noise)
        size = self.cma.population_size
        if len(self.history.scores) - self.used < size:
            return
        members = range(self.used, self.used + size)
        idle = np.full(self.idle, 0.5)
        told = [
            (np.concatenate([self.history.points[i], idle]), -self.history.scores[i])
            for i in members
        ]
        self.cma.tell(told)
        self.used += size

    @property
    def final(self) -> Point | None:
        """The posterior decides."""
        return None


class SpsaProposer:
    """SPSA with fishtest's schedule: trials come in twos, at theta + c delta and theta - c delta.

    Both play the same opponents from the same openings, so their difference stands for a match
    between them at half its rate.
    """

    def __init__(self, space: Space, seed_point: Point, seed: int, slots: int, pairs: int) -> None:
        """`slots` trials of `pairs` pairings are all there will be."""
        self.space, self.seed, self.pairs = space, seed, pairs
        self.theta = np.array(seed_point)
        self.history = History()
        total = max(slots * pairs, 1)
        self.offset = 0.1 * total
        self.c0 = STEP_C * total**0.101
        self.a0 = STEP_R * STEP_C**2 * (self.offset + total) ** 0.602

    def propose(self, slot: int) -> Point:
        """The seed's point first; then around the current theta."""
        point = np.array(self.theta)
        if slot > 0:
            sign = 1.0 if slot % 2 else -1.0
            point = self.theta + sign * self._width(slot) * self._delta(slot)
        point = self.space.snapped(point)
        self.known(slot, point)
        return point

    def known(self, slot: int, point: Point) -> None:
        """Remember a point."""
        self.history.points.append(point)

    def tell(self, slot: int, score: float, noise: float) -> None:
        """The second of two trials moves theta by the difference of their scores."""
        self.history.tell(score, noise)
        if slot == 0 or slot % 2:
            return
        gained = 4.0 * self.pairs * (self.history.scores[slot - 1] - score)
        rate = self.a0 / (self.offset + self._played(slot)) ** 0.602 / self._width(slot)
        self.theta = np.clip(self.theta + rate * gained * self._delta(slot), 0.0, 1.0)

    @property
    def final(self) -> Point | None:
        """Theta, the mean of what was tried last."""
        return self.theta

    def _played(self, slot: int) -> float:
        """Pairings after the step of this slot."""
        return float(2 * self.pairs * ((slot + 1) // 2))

    def _width(self, slot: int) -> float:
        return float(self.c0 / self._played(slot) ** 0.101)

    def _delta(self, slot: int) -> Floats:
        """The signs of one step: the same for both of its trials."""
        rng = seeded(self.seed, (slot + 1) // 2)
        return np.where(rng.random(len(self.theta)) < 0.5, -1.0, 1.0)


def default_startup(slots: int) -> int:
    """Half of the trials are spread at random: a smaller share gets stuck in a wrong mode."""
    return math.ceil(slots / 2)
