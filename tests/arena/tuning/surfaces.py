"""Made-up surfaces with a known optimum: the Elo over the seed weights at every point."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.stats.elo import score_from_elo
from arena.tuning.optuna_study import OptunaSearch
from arena.tuning.recommendation import Recommendation, recommend
from arena.tuning.samplers.registry import SearchPlan, sampler_entry
from arena.tuning.space import Axis, Params, Point, Space
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
    """A bowl with another width for each weight; the seed is `seed_loss` Elo below the top."""
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
    """A hill around the seed and a higher one away from it, in three weights."""
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
    """A surface without slope."""
    return Surface(lambda point: 0.0, np.full(dims, 0.5), 0.0)


def simulated(elo: float, games: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Pair scores of independent games."""
    score = score_from_elo(elo)
    draws = DRAWS * min(1.0, 4.0 * score * (1.0 - score))
    chances = [score - draws / 2, draws, 1.0 - score - draws / 2]
    results = rng.choice([1.0, 0.5, 0.0], size=(games // 2, 2), p=chances)
    means: NDArray[np.float64] = results.mean(axis=1)
    return means


def search_for(method: str, surface: Surface, trials: int, games: int, seed: int) -> OptunaSearch:
    """The search of a study on a surface; SPSA takes its small steps."""
    pairs = sampler_entry(method).pairs or games // 2
    trials = trials * games // (2 * pairs)
    return OptunaSearch(method, SearchPlan(surface.space, surface.seed, seed, trials, pairs))


def study(
    surface: Surface, method: str, trials: int, games: int, seed: int
) -> tuple[Recommendation, list[Trial]]:
    """A whole study on a surface, with as many trials in progress as in a real one."""
    search = search_for(method, surface, trials, games, seed)
    space, plan = surface.space, search.plan
    rng = np.random.default_rng(100 + seed)
    found, in_progress = list[Trial](), deque[Params]()
    for number in range(plan.trials + WINDOW):
        if in_progress and number >= WINDOW:
            point = space.round_point(space.point(in_progress.popleft()))
            points = simulated(surface.elo(point), 2 * plan.pairs, rng)
            trial = Trial(
                len(found), point, float(points.mean()), 0.0, 1.0, score_variance(points),
                2 * plan.pairs, 2 * plan.pairs, int(rng.integers(1 << 62)), 0.0,
            )  # fmt: skip
            found.append(trial)
            search.tell(trial.number, trial.score, trial.fingerprint)
        if number < plan.trials:
            in_progress.append(search.ask())
    final = search.walk.point if search.walk else None
    return recommend(space, surface.seed, found, seed, final)[0], found
