"""The stop rule: a test that takes pairings in schedule order, however they are batched."""

import numpy as np
from numpy.typing import NDArray

from arena.planning.drawing import DrawnPlan
from arena.planning.game_blobs import Batch
from arena.stats.sprt import SprtState, advance, begin, used_up

QUARTERS = 4.0  # of a point in a pairing's score


class StopRule:
    """Takes complete prefixes of the schedule; without a test it never stops a run."""

    def __init__(self, drawn: DrawnPlan) -> None:
        """Nothing is taken yet."""
        self.test = drawn.plan.stop
        self.state: SprtState | None = begin(self.test) if self.test else None
        self.openings = len(drawn.openings)

    @property
    def reached(self) -> bool:
        """Whether the run stops here."""
        return self.state is not None and self.state.stopped

    def take(self, start: int, points: NDArray[np.int8]) -> int:
        """Take the points of the pairings from `start` on; returns how many of them count.

        Repeated openings are no evidence.
        """
        if self.test is None or self.state is None:
            return len(points)
        observations = self.state.observations
        fresh = points[: max(0, self.openings - start)] / QUARTERS
        self.state = advance(self.test, self.state, fresh)
        return self.state.observations - observations if self.reached else len(points)

    def cut(self, batch: Batch) -> Batch:
        """The batch up to the pairing at which the rule stops."""
        counted = self.take(batch.start, batch.points)
        return batch._replace(stop=batch.start + counted, points=batch.points[:counted])

    def final(self, complete: bool) -> SprtState | None:
        """The state at the end of the run: undecided if the openings are used up."""
        return used_up(self.state) if self.state is not None and complete else self.state
