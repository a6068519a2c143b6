"""A discrete-event simulation of a cluster of any size from measured costs."""

import heapq
import itertools
from typing import NamedTuple

from arena.playing.cluster.dask_executor import QUEUE_PER_SLOT
from benchmarks.cluster_costs import Costs

BATCHES = 60  # for each slot; the first third is warm-up and is not counted
# The share of a task's client and scheduler costs that arises before it is played.
OUT = 0.5


class Work(NamedTuple):
    """Equal batches: seconds to play one, its size, and the client's seconds to store it."""

    seconds: float
    bytes: float
    keep_seconds: float = 0.0


class Flow(NamedTuple):
    """The result: batches a second, and the share of time that each part was busy."""

    batches: float
    client: float
    scheduler: float
    workers: float


class Server:
    """A resource that serves one request at a time."""

    def __init__(self) -> None:
        self.free = self.busy = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """Return the time at which a request that arrives now is finished."""
        self.busy += seconds
        self.free = max(now, self.free) + seconds
        return self.free


def flow(costs: Costs, work: Work, slots: int) -> Flow:
    """Simulate slots that play batches without end, each with a queue of tasks.

    The client submits a batch, the scheduler assigns it, and the slot plays it. The scheduler
    returns the result, and the client stores it and submits the next batch for that slot.
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
