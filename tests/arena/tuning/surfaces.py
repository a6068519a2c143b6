"""Made-up surfaces with a known optimum: Elo over the seed weights at every point of the cube."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.stats.elo import score_from_elo
from arena.tuning.recommendation import Recommendation, recommend
from arena.tuning.samplers.registry import Sampler, final_point
from arena.tuning.samplers.spsa import SpsaSampler
from arena.tuning.space import Axis, Point, Space
from arena.tuning.trial_games import WINDOW
from arena.tuning.trials import Trial, score_variance

DRAWS = 0.05


class Surface(NamedTuple):
    """The Elo of a candidate against the seed weights, and where it is highest."""

    elo: Callable[[Point], float]
    seed: Point
    best_elo: float

    @property
    def space(self) -> Space:
        return Space(tuple(Axis(f"w{i}", 0.0, 1.0) for i in range(len(self.seed))), {})

    def regret(self, point: Point) -> float:
        """Elo lost against the optimum."""
        return self.best_elo - self.elo(point)


def smooth(dims: int, seed_loss: float, rng: np.random.Generator) -> Surface:
    """A bowl with a length of its own along every weight; the seed lies `seed_loss` below."""
    best = rng.uniform(0.25, 0.75, dims)
    bend = rng.uniform(0.3, 1.0, dims)
    away = rng.standard_normal(dims)
    away *= np.sqrt(seed_loss / float((bend * 400 * away**2).sum()))
    seed = np.clip(best + away, 0.02, 0.98)

    def below(point: Point) -> float:
        return float((400 * bend * (np.asarray(point) - best) ** 2).sum())

    loss = below(seed)
    return Surface(lambda point: loss - below(point), seed, loss)


def two_modes(rng: np.random.Generator) -> Surface:
    """A wide hill where the seed lies and a higher one away from it, both in three weights."""
    low, high = np.array([0.25, 0.3, 0.4]), np.array([0.75, 0.7, 0.6])
    seed = low + rng.uniform(-0.04, 0.04, 3)

    def height(point: Point) -> float:
        near = 70 * np.exp(-((np.asarray(point) - low) ** 2).sum() / 0.12)
        far = 120 * np.exp(-((np.asarray(point) - high) ** 2).sum() / 0.12)
        return float(near + far)

    base = height(seed)
    grid = high + rng.uniform(-0.02, 0.02, (4000, 3))
    best = max(height(point) for point in grid)
    return Surface(lambda point: height(point) - base, seed, best - base)


def flat(dims: int) -> Surface:
    """A weight that does nothing."""
    return Surface(lambda point: 0.0, np.full(dims, 0.5), 0.0)


def simulated(elo: float, games: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Pair scores of independent games."""
    score = score_from_elo(elo)
    draws = DRAWS * min(1.0, 4.0 * score * (1.0 - score))
    chances = [score - draws / 2, draws, 1.0 - score - draws / 2]
    results = rng.choice([1.0, 0.5, 0.0], size=(games // 2, 2), p=chances)
    means: NDArray[np.float64] = results.mean(axis=1)
    return means


def study(
    surface: Surface, sampler: Sampler, trials: int, games: int, seed: int
) -> tuple[Recommendation, list[Trial]]:
    """A whole study on a made-up surface, with as many trials under way as in a real one.

    The walk of SPSA takes the small steps that it was built for.
    """
    if isinstance(sampler, SpsaSampler):
        trials, games = sampler.plan.trials, 2 * sampler.plan.pairs
    rng = np.random.default_rng(seed)
    found: list[Trial] = []
    under_way: deque[tuple[int, Point]] = deque()
    for slot in range(trials + WINDOW):
        if slot >= WINDOW or slot >= trials:
            at, point = under_way.popleft()
            points = simulated(surface.elo(point), games, rng)
            trial = Trial(
                at, point, float(points.mean()), 0.0, 1.0, score_variance(points),
                games, games, int(rng.integers(1 << 62)), 0.0,
            )  # fmt: skip
            found.append(trial)
            sampler.tell(at, point, trial.score, trial.noise)
        if slot < trials:
            under_way.append((slot, sampler.propose(slot)))
    return recommend(surface.space, surface.seed, found, seed, final_point(sampler))[0], found
