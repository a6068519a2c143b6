"""Tasks: portions of the pairings that take a moment each and come back as batches."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from arena.planning.agent_costs import AgentCosts, Sides
from arena.planning.game_blobs import Batch
from arena.planning.pairings import Block, Pairings
from arena.planning.records import Termination

# Long enough to cost nothing to hand out, short enough to stop, show and keep soon.
BATCH_SECONDS = 0.12
FEWEST, MOST = 1, 131_072  # pairings
GROWTH = 8


class CutOff(NamedTuple):
    """An agent that was cut off: at this ply, in this seat, it is not asked again."""

    ply: int
    seat: int


class Unasked(NamedTuple):
    """Why an agent is not asked any more: it forfeits every game like this."""

    termination: Termination
    reason: str


Verdicts = Mapping[tuple[int, int], CutOff]  # by pairing and leg


class Task(NamedTuple):
    """Pairings `start` to `stop` - 1, with the verdicts on games that were cut off.

    Their `blocks` are carried where the plan alone does not say them.
    """

    start: int
    stop: int
    verdicts: Verdicts
    blocks: tuple[Block, ...] = ()
    out: "tuple[tuple[int, Unasked], ...]" = ()  # who forfeits unplayed, by place

    def singles(self) -> "list[Task]":
        """The same pairings one by one."""
        blocks = [one for block in self.blocks for one in block.pieces(1)]
        return [
            Task(at, at + 1, self.verdicts, tuple(blocks[place : place + 1]), self.out)
            for place, at in enumerate(range(self.start, self.stop))
        ]


def all_unknown(pairings: Pairings, start: int) -> tuple[int, int]:
    """The pairings to play from `start` on, where none is known from elsewhere."""
    return start, pairings.total


class Tasks:
    """The rest of a schedule in tasks of about equal length, judged by earlier batches."""

    def __init__(self, after: int, pairings: Pairings) -> None:
        """The first `after` of the pairings are finished; more may follow, round by round."""
        self.next, self.pairings = after, pairings
        self.unknown: Callable[[Pairings, int], tuple[int, int]] = all_unknown
        self.sizes: dict[str, int] = {}  # by worker; those that are alike have no names
        self.speeds: dict[str, float] = {}  # pairings a second
        self.costs: dict[str, AgentCosts] = {}
        self.sides: Sides = np.array(pairings.matches, np.int64)
        self.seconds = BATCH_SECONDS

    def next_for(self, worker: str = "") -> Task | None:
        """The next task, sized for this worker; None if nothing is left."""
        start, end = self.unknown(self.pairings, self.next)
        if start >= self.pairings.total:
            return None
        end = min(start + self.sizes.get(worker, FEWEST), end)
        self.next = self._in_time(start, end, worker)
        return Task(start, self.next, {}, self.pairings.carried(start, self.next))

    def learn(self, batch: Batch, seconds: float = BATCH_SECONDS) -> None:
        """Size the next tasks of a worker by what this batch took, to take so many seconds."""
        pairings = batch.stop - batch.start
        took = max(batch.seconds, 1e-6)
        speed = pairings / took
        size = self.sizes.get(batch.worker, FEWEST)
        self.sizes[batch.worker] = max(FEWEST, min(int(seconds * speed), size * GROWTH, MOST))
        self.speeds[batch.worker] = speed
        self.seconds = seconds
        if self._mixed:
            costs = self.costs.setdefault(batch.worker, AgentCosts(len(self.pairings.agents)))
            costs.learn(self._sides_of(batch.start, batch.stop), took)

    @property
    def _mixed(self) -> bool:
        """Whether pairings of one task may take very different times."""
        return len(self.sides) > 1

    def _in_time(self, start: int, end: int, worker: str) -> int:
        """Where a task ends that would run into matches of slower agents."""
        if not self._mixed or end - start == FEWEST or worker not in self.costs:
            return end
        sides = self._sides_of(start, end)
        return start + max(FEWEST, self.costs[worker].within(sides, self.seconds))

    def _sides_of(self, start: int, stop: int) -> Sides:
        return self.sides[self.pairings.places(np.arange(start, stop))[0]]
