"""Tasks: portions of the pairings that take a moment each and come back as batches."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Long enough to cost nothing to hand out, short enough to stop, show and keep soon.
BATCH_SECONDS = 0.12
FEWEST, MOST = 1, 131_072  # pairings
GROWTH = 8


class CutOff(NamedTuple):
    """An agent that was cut off: at this ply, in this seat, it is not asked again."""

    ply: int
    seat: int


Verdicts = Mapping[tuple[int, int], CutOff]  # by pairing and leg


class Task(NamedTuple):
    """Pairings `start` to `stop` - 1, with the verdicts on games that were cut off."""

    start: int
    stop: int
    verdicts: Verdicts

    def singles(self) -> "list[Task]":
        """The same pairings one by one."""
        return [self._replace(start=at, stop=at + 1) for at in range(self.start, self.stop)]


class Batch(NamedTuple):
    """The games of a task as a blob, the quarter points of each pairing, and the seconds.

    Games of the blob past `stop` do not count: a stop rule was reached before them.
    """

    start: int
    stop: int
    games: bytes
    points: NDArray[np.int8]
    seconds: float
    worker: str = ""  # who played it, if it matters


class Tasks:
    """The rest of a schedule in tasks of about equal length, judged by earlier batches."""

    def __init__(self, after: int, total: int) -> None:
        """The first `after` of `total` pairings are finished."""
        self.next, self.total = after, total
        self.sizes: dict[str, int] = {}  # by worker; those that are alike have no names
        self.speeds: dict[str, float] = {}  # pairings a second

    def next_for(self, worker: str = "") -> Task | None:
        """The next task, sized for this worker; None if nothing is left."""
        if self.next >= self.total:
            return None
        start, size = self.next, self.sizes.get(worker, FEWEST)
        self.next = min(start + size, self.total)
        return Task(start, self.next, {})

    def learn(self, batch: Batch, seconds: float = BATCH_SECONDS) -> None:
        """Size the next tasks of a worker by what this batch took, to take so many seconds."""
        pairings = batch.stop - batch.start
        speed = pairings / max(batch.seconds, 1e-6)
        size = self.sizes.get(batch.worker, FEWEST)
        self.sizes[batch.worker] = max(FEWEST, min(int(seconds * speed), size * GROWTH, MOST))
        self.speeds[batch.worker] = speed
