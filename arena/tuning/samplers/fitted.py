"""No search: the weights that were fitted to games, tried in turn with the untuned ones."""

from arena.tuning.samplers.registry import SearchPlan
from arena.tuning.space import Point


class FittedSampler:
    """Proposes the untuned weights and the fitted ones in turn; it learns nothing."""

    def __init__(self, plan: SearchPlan) -> None:
        """The plan's start is where the fit has arrived."""
        self.plan = plan

    def propose(self, slot: int) -> Point:
        """The untuned weights first."""
        return self.plan.space.snapped(self.plan.seed_point if slot % 2 == 0 else self.final)

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """Scores change nothing."""

    @property
    def final(self) -> Point:
        """The fitted weights."""
        return self.plan.begin


def build(plan: SearchPlan) -> FittedSampler:
    """The sampler at its first slot."""
    return FittedSampler(plan)
