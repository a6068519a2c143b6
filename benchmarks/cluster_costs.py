"""Measure the cost of a task for the client, the scheduler and a worker of a real cluster."""

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
from arena.planning.schedule import RoundTracker, make_schedule
from arena.planning.tasks import Task, TaskQueue
from arena.playing.cluster.connection import Cluster
from arena.playing.cluster.dask_executor import DaskExecutor
from arena.playing.executor import do_nothing
from arena.playing.play import StopRule
from arena.playing.progress import ProgressCounter
from arena.playing.worker import Worker
from arena.storage.journal import RunDirectory
from benchmarks.cluster_machines import Machines, local_cluster, processor_seconds
from benchmarks.sleepers import PACKAGE, Nap

SMALL, LARGE = 1_000, 1_000_000  # bytes of a result
NAPS, LARGE_NAPS, TRIPS = 1_000, 200, 50
ROUNDS = 3
KEPT = 30  # batches, to measure the cost of storing one


class Costs(NamedTuple):
    """Processor seconds per task and per byte of result, and the duration of a round trip."""

    client_task: float
    client_byte: float
    scheduler_task: float
    scheduler_byte: float
    worker_task: float
    trip: float  # from the client to an idle worker and back

    @property
    def trip_alone(self) -> float:
        """The part of a round trip that is only communication."""
        return max(0.0, self.trip - self.client_task - self.scheduler_task - self.worker_task)


class Match(NamedTuple):
    """Games of one kind: the cost of playing a game and of storing a batch."""

    name: str
    game_seconds: float
    game_bytes: float
    keep_batch: float
    keep_game: float


@contextmanager
def sleeping_cluster(there: Machines) -> Iterator[DaskExecutor]:
    """Yield an executor whose workers only sleep, once all of them are ready."""
    with Cluster(there.address) as cluster:
        slots = len(there.workers)
        while len(cluster.workers.present) < slots:
            cluster.process_events(0.1)
        executor = DaskExecutor(cluster, PACKAGE, False, lambda: None)
        while sum(bool(each.prepared) for each in cluster.workers.present.values()) < slots:
            executor.admission.admit_new_workers()
            cluster.process_events(0.1)
        sleep_seconds(executor, Nap(0.0, SMALL), 200)
        yield executor


def sleep_seconds(executor: DaskExecutor, nap: Nap, count: int) -> float:
    """Return the seconds until `count` equal items are done."""
    begun, given = time.perf_counter(), 0
    while given < count or executor.pending:
        while given < count and executor.next_worker() is not None:
            executor.submit(nap)
            given += 1
        while executor.pending and executor.next_result(do_nothing) is None and given >= count:
            pass
    return time.perf_counter() - begun


def measure_costs() -> Costs:
    """Measure with two idle workers; take the best of several rounds."""
    with local_cluster(2) as there, sleeping_cluster(there) as executor:
        small = [_seconds_per_item(there, executor, SMALL, NAPS) for _ in range(ROUNDS)]
        large = [_seconds_per_item(there, executor, LARGE, LARGE_NAPS) for _ in range(ROUNDS)]
        trips = [sleep_seconds(executor, Nap(0.0, SMALL), 1) for _ in range(TRIPS)]
    few, many = (tuple(map(min, zip(*each, strict=True))) for each in (small, large))
    a_byte = [max(0.0, (b - a) / (LARGE - SMALL)) for a, b in zip(few, many, strict=True)]
    client, scheduler, worker = few
    trip = statistics.median(trips)
    return Costs(client, a_byte[0], scheduler, a_byte[1], worker, trip)


def _seconds_per_item(
    there: Machines, executor: DaskExecutor, size: int, count: int
) -> tuple[float, float, float]:
    """Return the processor seconds per item of the client, the scheduler and the workers."""

    def clocks() -> tuple[float, float, float]:
        theirs = sum(map(processor_seconds, there.workers))
        return time.process_time(), processor_seconds(there.scheduler), theirs

    before = clocks()
    sleep_seconds(executor, Nap(0.0, size), count)
    client, scheduler, workers = ((b - a) / count for a, b in zip(before, clocks(), strict=True))
    return client, scheduler, workers


def measure_match(
    name: str, agent: AgentSpec, openings: OpeningsSpec, few: int, many: int
) -> Match:
    """Measure games of an agent against itself, in batches of `few` and of `many` pairs."""
    plan = Plan(
        game_name="kalah(6,4)", agents={"a": agent, "b": agent}, matches=((0, 1),),
        openings=openings, pairs=KEPT * many, keep_moves=False,
    )  # fmt: skip
    schedule = make_schedule(plan)
    worker = Worker(schedule)
    worker.compile_agents()
    one, all_ = worker.play_batch(Task(0, few, {})), worker.play_batch(Task(0, many, {}))
    seconds = min(_batch_seconds(worker, Task(0, many, {})) for _ in range(ROUNDS)) / (2 * many)
    small, large = (_store_seconds(plan, each) for each in (one, all_))
    keep_game = max(0.0, (large - small) / (2 * (many - few)))
    return Match(name, seconds, len(all_.blob) / (2 * many), small, keep_game)


def _batch_seconds(worker: Worker, task: Task) -> float:
    begun = time.process_time()
    worker.play_batch(task)
    return time.process_time() - begun


def _store_seconds(plan: Plan, batch: Batch) -> float:
    """Return the client's median processor seconds to store and count a batch."""
    schedule = make_schedule(plan)
    pairs = batch.stop - batch.start
    count, stop, tasks, taken = (
        ProgressCounter(RoundTracker(schedule)),
        StopRule(schedule),
        TaskQueue(0, schedule.pairs),
        list[float](),
    )
    with tempfile.TemporaryDirectory() as made, RunDirectory(Path(made), "digest") as run:
        section = run.section()
        for at in range(0, KEPT * pairs, pairs):
            each = batch._replace(start=at, stop=at + pairs)
            begun = time.process_time()
            tasks.learn(each)
            counted = stop.truncate_batch(each)
            section.append(counted.start, counted.stop, counted.blob)
            count.add(counted.start, counted.stop, counted.points)
            count.progress(stop.state, {})
            taken.append(time.process_time() - begun)
    return statistics.median(taken)
