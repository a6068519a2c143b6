"""CMA-ES (Hansen), by the package `cmaes`."""

import numpy as np
from cmaes import CMA  # type: ignore[import-untyped]  # it ships no types

from arena.planning.seeds import hash64
from arena.tuning.samplers.registry import SearchPlan
from arena.tuning.space import Point

SIGMA = 0.3  # the width with which the search begins


class CmaSampler:
    """Points of one generation after another; a generation that is played moves the search."""

    def __init__(self, plan: SearchPlan) -> None:
        """The search begins around the seed's point."""
        dims = len(plan.space.axes)
        # The covariance of one number cannot be rotated: a second, idle one stands beside it.
        self.idle = np.full(1 if dims == 1 else 0, 0.5)
        mean = np.concatenate([plan.seed_point, self.idle])
        bounds = np.array([[0.0, 1.0]] * len(mean))
        self.cma = CMA(mean, SIGMA, bounds=bounds, seed=int(hash64(plan.seed)) % 2**32)
        self.plan = plan
        self.generation: list[tuple[Point, float]] = []

    def propose(self, slot: int) -> Point:
        """The seed's point first, then points of the current generation."""
        space = self.plan.space
        drawn = self.cma.ask()[: len(space.axes)]
        return space.snapped(self.plan.seed_point if slot == 0 else drawn)

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """Remember a result; a whole generation moves the search."""
        self.generation.append((np.concatenate([point, self.idle]), -score))
        if len(self.generation) == self.cma.population_size:
            self.cma.tell(self.generation)
            self.generation = []


def build(plan: SearchPlan) -> CmaSampler:
    """The sampler at its first slot."""
    return CmaSampler(plan)
