"""Tasks: a schedule cut into pieces that take about equally long."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import Batch, Termination
from arena.planning.schedule import Block, PairOrder

AgentPairs = NDArray[np.int64]  # the two agents of a pair in each row
# A new agent has at least this share of a batch's time, whatever the others take elsewhere.
MIN_SHARE = 0.1
# Long enough to make the cost of a task small, short enough to stop, show and store soon.
BATCH_SECONDS = 0.12
MIN_PAIRS, MAX_PAIRS = 1, 131_072
GROWTH = 8


class AgentCosts:
    """The seconds that each agent adds to a pair; NaN while nothing is known."""

    def __init__(self, agents: int) -> None:
        self.seconds = np.full(agents, np.nan)

    def learn(self, agents: AgentPairs, seconds: float) -> None:
        """Add the time that these pairs took together.

        New agents get the time that the others do not explain; known ones share the error.
        """
        counts = np.bincount(agents.ravel(), minlength=len(self.seconds))
        new = (counts > 0) & np.isnan(self.seconds)
        known = float(np.nansum(counts * self.seconds))
        if new.any():
            self.seconds[new] = max(seconds - known, MIN_SHARE * seconds) / counts[new].sum()
        else:
            self.seconds[counts > 0] *= seconds / known

    def pairs_within(self, agents: AgentPairs, seconds: float, free: NDArray[np.bool_]) -> int:
        """Return how many of these pairs, in this order, are known to take no longer.

        Pairs that are `free` take no time.
        """
        each = np.where(free, 0.0, self.seconds[agents].sum(axis=1))
        known = len(each) if not np.isnan(each).any() else int(np.isnan(each).argmax())
        return int(np.searchsorted(np.cumsum(each[:known]), seconds, side="right"))


class Cutoff(NamedTuple):
    """A game that was cut off: the agent in this seat loses it at this ply."""

    ply: int
    seat: int


class Disqualification(NamedTuple):
    """The reason for which a bot forfeits its games unplayed."""

    termination: Termination
    reason: str


Cutoffs = Mapping[tuple[int, int], Cutoff]  # by pair and leg


class Task(NamedTuple):
    """Pairs `start` to `stop` - 1, with the games that are to be cut off."""

    start: int
    stop: int
    cutoffs: Cutoffs
    blocks: tuple[Block, ...] = ()  # of pairs that the plan alone does not have
    # Bots that earlier games disqualified; None: all games are played.
    disqualified: tuple[int, ...] | None = None

    def split(self) -> "list[Task]":
        """Return a task for each pair."""
        blocks = [one for block in self.blocks for one in block.split(1)]
        return [
            Task(at, at + 1, self.cutoffs, tuple(blocks[place : place + 1]), self.disqualified)
            for place, at in enumerate(range(self.start, self.stop))
        ]


def all_pairs_to_play(pairs: PairOrder, start: int) -> tuple[int, int]:
    """Return the pairs from `start` on: the game cache has none of them."""
    return start, pairs.total


class TaskQueue:
    """The rest of a schedule in tasks, sized by the times of earlier batches."""

    def __init__(self, after: int, pairs: PairOrder) -> None:
        """The first `after` of the pairs are finished; rounds may add more pairs."""
        self.next, self.pairs = after, pairs
        # Returns the first pair from a number on that must be played, and a pair at which the
        # consecutive ones end.
        self.pairs_to_play: Callable[[PairOrder, int], tuple[int, int]] = all_pairs_to_play
        self.sizes: dict[str, int] = {}  # by worker; equal workers have no names
        self.speeds: dict[str, float] = {}  # pairs per second
        self.costs: dict[str, AgentCosts] = {}
        self.match_agents: AgentPairs = np.array(pairs.matches, np.int64)
        self.seconds = BATCH_SECONDS
        # Bots whose games are forfeited unplayed; None: all games are played.
        self.disqualified: Collection[int] | None = None

    def next_task(self, worker: str = "") -> Task | None:
        """Return the next task, sized for this worker; None if nothing is left."""
        start, end = self.pairs_to_play(self.pairs, self.next)
        if start >= self.pairs.total:
            return None
        end = min(start + self.sizes.get(worker, MIN_PAIRS), end)
        self.next = self._task_end(start, end, worker)
        disqualified = None if self.disqualified is None else tuple(self.disqualified)
        blocks = self.pairs.blocks_for_task(start, self.next)
        return Task(start, self.next, {}, blocks, disqualified)

    def learn(self, batch: Batch, seconds: float = BATCH_SECONDS) -> None:
        """Size the worker's next tasks by the time of this batch, so that they take `seconds`."""
        pairs = batch.stop - batch.start
        taken = max(batch.seconds, 1e-6)
        speed = pairs / taken
        size = self.sizes.get(batch.worker, MIN_PAIRS)
        self.sizes[batch.worker] = max(
            MIN_PAIRS, min(int(seconds * speed), size * GROWTH, MAX_PAIRS)
        )
        self.speeds[batch.worker] = speed
        self.seconds = seconds
        if self._has_several_matches:
            agents = self._agents_of(batch.start, batch.stop)
            if len(played := agents[~self._forfeit_mask(agents)]):
                self._costs(batch.worker).learn(played, taken)

    @property
    def _has_several_matches(self) -> bool:
        """True if pairs of one task may take very different times."""
        return len(self.match_agents) > 1

    def _task_end(self, start: int, end: int, worker: str) -> int:
        """Return where a task ends: before matches of slower agents."""
        if not self._has_several_matches or end - start == MIN_PAIRS:
            return end
        agents = self._agents_of(start, end)
        free = self._forfeit_mask(agents)
        return start + max(MIN_PAIRS, self._costs(worker).pairs_within(agents, self.seconds, free))

    def _costs(self, worker: str) -> AgentCosts:
        return self.costs.setdefault(worker, AgentCosts(len(self.pairs.agents)))

    def _forfeit_mask(self, agents: AgentPairs) -> NDArray[np.bool_]:
        """Return which pairs are forfeited unplayed: they show nothing about a bot's speed."""
        return np.asarray(np.isin(agents, list(self.disqualified or ())).any(axis=1))

    def _agents_of(self, start: int, stop: int) -> AgentPairs:
        return self.match_agents[self.pairs.locate(np.arange(start, stop))[0]]
