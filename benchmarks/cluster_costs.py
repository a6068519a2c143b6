"""What a task costs the client, the scheduler and a worker of a real cluster, measured."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agents.core import AgentSpec
from arena.planning.games import Batch
from arena.planning.plan import OpeningsSpec, Plan
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task, TaskQueue
from arena.playing.cluster.connection import Cluster
from arena.playing.cluster.dask_executor import DaskExecutor
from arena.playing.executor import do_nothing
from arena.playing.play import StopRule
from arena.playing.progress import ProgressCounter
from arena.playing.worker import Worker
from arena.storage.journal import RunDirectory
from benchmarks.cluster_machines import Machines, local_cluster, processor_seconds
from benchmarks.sleepers import PARCEL, Nap

SMALL, LARGE = 1_000, 1_000_000  # bytes of a result
NAPS, LARGE_NAPS, TRIPS = 1_000, 200, 50
ROUNDS = 3
KEPT = 30  # batches, to see what keeping one costs


class Costs(NamedTuple):
    """Processor seconds of a task and of each byte of its result, and the seconds of a way."""

    client_task: float
    client_byte: float
    scheduler_task: float
    scheduler_byte: float
    worker_task: float
    trip: float  # from the client to a worker and back, nothing to do there

    @property
    def trip_alone(self) -> float:
        """The seconds of a trip in which nobody computes."""
        return max(0.0, self.trip - self.client_task - self.scheduler_task - self.worker_task)


class Match(NamedTuple):
    """Games of one kind: what they cost to play and, batch by batch, to keep."""

    name: str
    game_seconds: float
    game_bytes: float
    keep_batch: float
    keep_game: float


@contextmanager
def napping(there: Machines) -> Iterator[DaskExecutor]:
    """A farm whose workers sleep; all of them are ready."""
    with Cluster(there.address) as cluster:
        slots = len(there.workers)
        while len(cluster.members.there) < slots:
            cluster.process_events(0.1)
        farm = DaskExecutor(cluster, PARCEL, False, lambda: None)
        while sum(bool(each.prepared) for each in cluster.members.there.values()) < slots:
            farm.admission.admit_new_workers()
            cluster.process_events(0.1)
        slept(farm, Nap(0.0, SMALL), 200)
        yield farm


def slept(farm: DaskExecutor, nap: Nap, count: int) -> float:
    """The seconds that so many equal items take."""
    begun, given = time.perf_counter(), 0
    while given < count or farm.order:
        while given < count and farm.wanted() is not None:
            farm.submit(nap)
            given += 1
        while farm.order and farm.next_result(do_nothing) is None and given >= count:
            pass
    return time.perf_counter() - begun


def costs() -> Costs:
    """Measured with two workers that do nothing; the best of some rounds."""
    with local_cluster(2) as there, napping(there) as farm:
        small = [_used(there, farm, SMALL, NAPS) for _ in range(ROUNDS)]
        large = [_used(there, farm, LARGE, LARGE_NAPS) for _ in range(ROUNDS)]
        trips = [slept(farm, Nap(0.0, SMALL), 1) for _ in range(TRIPS)]
    few, many = (tuple(map(min, zip(*each, strict=True))) for each in (small, large))
    a_byte = [max(0.0, (b - a) / (LARGE - SMALL)) for a, b in zip(few, many, strict=True)]
    client, scheduler, worker = few
    trip = statistics.median(trips)
    return Costs(client, a_byte[0], scheduler, a_byte[1], worker, trip)


def _used(there: Machines, farm: DaskExecutor, size: int, count: int) -> tuple[float, float, float]:
    """Processor seconds an item of the client, the scheduler and the workers."""

    def used() -> tuple[float, float, float]:
        theirs = sum(map(processor_seconds, there.workers))
        return time.process_time(), processor_seconds(there.scheduler), theirs

    before = used()
    slept(farm, Nap(0.0, size), count)
    client, scheduler, workers = ((b - a) / count for a, b in zip(before, used(), strict=True))
    return client, scheduler, workers


def match(name: str, agent: AgentSpec, openings: OpeningsSpec, few: int, many: int) -> Match:
    """What games of an agent against itself cost, from batches of `few` and `many` pairings."""
    plan = Plan(
        game="kalah(6,4)", agents={"a": agent, "b": agent}, matches=((0, 1),),
        openings=openings, pairs=KEPT * many, keep_moves=False,
    )  # fmt: skip
    drawn = make_schedule(plan)
    worker = Worker(drawn)
    worker.warm()
    one, all_ = worker.batch(Task(0, few, {})), worker.batch(Task(0, many, {}))
    seconds = min(_played(worker, Task(0, many, {})) for _ in range(ROUNDS)) / (2 * many)
    small, large = (_kept(plan, each) for each in (one, all_))
    keep_game = max(0.0, (large - small) / (2 * (many - few)))
    return Match(name, seconds, len(all_.games) / (2 * many), small, keep_game)


def _played(worker: Worker, task: Task) -> float:
    """The processor seconds of a batch."""
    begun = time.process_time()
    worker.batch(task)
    return time.process_time() - begun


def _kept(plan: Plan, batch: Batch) -> float:
    """The client's processor seconds to keep and count a batch; the best of some rounds."""
    drawn = make_schedule(plan)
    pairings = batch.stop - batch.start
    count, stop, tasks, taken = (
        ProgressCounter(drawn),
        StopRule(drawn),
        TaskQueue(0, drawn.pairings),
        list[float](),
    )
    with tempfile.TemporaryDirectory() as made, RunDirectory(Path(made), "digest") as run:
        section = run.section()
        for at in range(0, KEPT * pairings, pairings):
            each = batch._replace(start=at, stop=at + pairings)
            begun = time.process_time()
            tasks.learn(each)
            counted = stop.truncate_batch(each)
            section.append(counted.start, counted.stop, counted.games)
            count.take(counted.start, counted.stop, counted.points)
            count.progress(stop.state, {})
            taken.append(time.process_time() - begun)
    return statistics.median(taken)
