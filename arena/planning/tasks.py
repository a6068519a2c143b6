"""Tasks of equal length."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import Batch, Termination
from arena.planning.schedule import Block, PairOrder

MIN_SHARE = 0.1  # of a batch's time is a new agent's, whatever the others take elsewhere
Sides = NDArray[np.int64]  # the two agents of a pairing in a row
# Long enough to cost nothing to hand out, short enough to stop, show and keep soon.
BATCH_SECONDS = 0.12
FEWEST, MOST = 1, 131_072  # pairings
GROWTH = 8


class AgentCosts:
    """Seconds that each agent adds to a pairing, NaN while nothing is known."""

    def __init__(self, agents: int) -> None:
        """Nothing is known."""
        self.seconds = np.full(agents, np.nan)

    def learn(self, sides: Sides, seconds: float) -> None:
        """Take what these pairings took together.

        New agents get what the others do not explain; known ones share the error.
        """
        counts = np.bincount(sides.ravel(), minlength=len(self.seconds))
        new = (counts > 0) & np.isnan(self.seconds)
        known = float(np.nansum(counts * self.seconds))
        if new.any():
            self.seconds[new] = max(seconds - known, MIN_SHARE * seconds) / counts[new].sum()
        else:
            self.seconds[counts > 0] *= seconds / known

    def pairs_within(self, sides: Sides, seconds: float, free: NDArray[np.bool_]) -> int:
        """Return how many of these pairs, one after another, are known to take no longer.

        Those that are `free` take no time.
        """
        each = np.where(free, 0.0, self.seconds[sides].sum(axis=1))
        known = len(each) if not np.isnan(each).any() else int(np.isnan(each).argmax())
        return int(np.searchsorted(np.cumsum(each[:known]), seconds, side="right"))


class Cutoff(NamedTuple):
    """A game that was cut off: the agent in this seat loses it at this ply."""

    ply: int
    seat: int


class Disqualification(NamedTuple):
    """The reason for which an excluded agent forfeits its games unplayed."""

    termination: Termination
    reason: str


Cutoffs = Mapping[tuple[int, int], Cutoff]  # by pairing and leg


class Task(NamedTuple):
    """Pairings `start` to `stop` - 1, with the verdicts on games that were cut off.

    Their `blocks` are carried where the plan alone does not say them. `out` are the places of bots
    excluded by earlier games; it is None if no rule of faults takes the games: all are played.
    """

    start: int
    stop: int
    verdicts: Cutoffs
    blocks: tuple[Block, ...] = ()
    out: tuple[int, ...] | None = None

    def split(self) -> "list[Task]":
        """The same pairings one by one."""
        blocks = [one for block in self.blocks for one in block.pieces(1)]
        return [
            Task(at, at + 1, self.verdicts, tuple(blocks[place : place + 1]), self.out)
            for place, at in enumerate(range(self.start, self.stop))
        ]


def nothing_cached(pairings: PairOrder, start: int) -> tuple[int, int]:
    """The pairings to play from `start` on, where none is known from elsewhere."""
    return start, pairings.total


class TaskQueue:
    """The rest of a schedule in tasks of about equal length, judged by earlier batches."""

    def __init__(self, after: int, pairings: PairOrder) -> None:
        """The first `after` of the pairings are finished; more may follow, round by round."""
        self.next, self.pairings = after, pairings
        self.unknown: Callable[[PairOrder, int], tuple[int, int]] = nothing_cached
        self.sizes: dict[str, int] = {}  # by worker; those that are alike have no names
        self.speeds: dict[str, float] = {}  # pairings a second
        self.costs: dict[str, AgentCosts] = {}
        self.sides: Sides = np.array(pairings.matches, np.int64)
        self.seconds = BATCH_SECONDS
        # Bots whose games are forfeited unplayed; None if no rule of faults takes the games.
        self.out: Collection[int] | None = None

    def next_task(self, worker: str = "") -> Task | None:
        """The next task, sized for this worker; None if nothing is left."""
        start, end = self.unknown(self.pairings, self.next)
        if start >= self.pairings.total:
            return None
        end = min(start + self.sizes.get(worker, FEWEST), end)
        self.next = self._in_time(start, end, worker)
        out = None if self.out is None else tuple(self.out)
        return Task(start, self.next, {}, self.pairings.blocks_for_task(start, self.next), out)

    def learn(self, batch: Batch, seconds: float = BATCH_SECONDS) -> None:
        """Size the next tasks of a worker by the time of this batch, to take these seconds."""
        pairings = batch.stop - batch.start
        took = max(batch.seconds, 1e-6)
        speed = pairings / took
        size = self.sizes.get(batch.worker, FEWEST)
        self.sizes[batch.worker] = max(FEWEST, min(int(seconds * speed), size * GROWTH, MOST))
        self.speeds[batch.worker] = speed
        self.seconds = seconds
        if self._mixed:
            sides = self._sides_of(batch.start, batch.stop)
            if len(played := sides[~self._forfeited(sides)]):
                self._costs(batch.worker).learn(played, took)

    @property
    def _mixed(self) -> bool:
        """Whether pairs of one task may take very different times."""
        return len(self.sides) > 1

    def _in_time(self, start: int, end: int, worker: str) -> int:
        """Return the end of a task, before matches of slower agents."""
        if not self._mixed or end - start == FEWEST:
            return end
        sides = self._sides_of(start, end)
        known = self._costs(worker).pairs_within(sides, self.seconds, self._forfeited(sides))
        return start + max(FEWEST, known)

    def _costs(self, worker: str) -> AgentCosts:
        return self.costs.setdefault(worker, AgentCosts(len(self.pairings.agents)))

    def _forfeited(self, sides: Sides) -> NDArray[np.bool_]:
        """Return which pairings are forfeited unplayed: they show nothing about a bot's speed."""
        gone = np.isin(sides, list(self.out or ()))
        return gone[:, 0] | gone[:, 1]

    def _sides_of(self, start: int, stop: int) -> Sides:
        return self.sides[self.pairings.places(np.arange(start, stop))[0]]
