"""A cluster as a clockwork of measured costs, however many workers it has."""

import heapq
import itertools
from typing import NamedTuple

from arena.playing.cluster.dask_executor import QUEUE_PER_SLOT
from benchmarks.cluster_costs import Costs

BATCHES = 60  # for each slot; a third fills the windows and is not counted
# Of a task's costs in the client and in the scheduler, the half is spent on its way out.
OUT = 0.5


class Work(NamedTuple):
    """Equal batches: how long one is played, how large it is, what the client does to keep it."""

    seconds: float
    bytes: float
    keep_seconds: float = 0.0


class Flow(NamedTuple):
    """What came of it: batches a second, and the share of its time that each was busy."""

    batches: float
    client: float
    scheduler: float
    workers: float


class Server:
    """Whoever does one thing after the other."""

    def __init__(self) -> None:
        """It is free."""
        self.free = self.busy = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """When something that arrives now is done."""
        self.busy += seconds
        self.free = max(now, self.free) + seconds
        return self.free


def flow(costs: Costs, work: Work, slots: int) -> Flow:
    """So many slots that play batches without end, each with its window of them.

    A batch is submitted by the client, assigned by the scheduler, played by its slot, brought back
    by the scheduler, and kept by the client, which then submits the next one for that slot.
    """
    client, scheduler = Server(), Server()
    workers = [Server() for _ in range(slots)]
    ways = costs.trip_alone / 4
    give, assign = OUT * costs.client_task, OUT * costs.scheduler_task
    fetch = assign + costs.scheduler_byte * work.bytes
    take = give + costs.client_byte * work.bytes + work.keep_seconds
    steps = (
        lambda now, _: client.serve(now, give) + ways,
        lambda now, _: scheduler.serve(now, assign) + ways,
        lambda now, slot: workers[slot].serve(now, work.seconds + costs.worker_task) + ways,
        lambda now, _: scheduler.serve(now, fetch) + ways,
        lambda now, _: client.serve(now, take),
    )
    order = itertools.count()
    events = [(0.0, next(order), 0, slot) for _ in range(QUEUE_PER_SLOT) for slot in range(slots)]
    finished: list[float] = []
    while len(finished) < slots * BATCHES:
        now, _, step, slot = heapq.heappop(events)
        if step == len(steps):
            finished.append(now)
            step = 0
        heapq.heappush(events, (steps[step](now, slot), next(order), step + 1, slot))
    warm, end = slots * (BATCHES // 3) - 1, finished[-1]
    rate = (len(finished) - 1 - warm) / (end - finished[warm])
    busy = client.busy, scheduler.busy, sum(each.busy for each in workers) / slots
    return Flow(rate, *(min(1.0, each / end) for each in busy))
