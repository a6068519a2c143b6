"""Playing an experiment: schedule -> workers -> journal -> stop, in schedule order throughout."""

import ctypes
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import build
from arena.executors import Mending, WorkerDied, in_order
from arena.openings import Openings, make_openings
from arena.records import Standing, decoded, encoded, first_rows, standing
from arena.schedule import Schedule
from arena.stats.sprt import SprtPlan, SprtState, advance, begin, used_up
from arena.store import Store
from arena.watch import Watch
from arena.worker import Batch, Job, Task, install, new_watch, play_task

BATCH_SECONDS = 0.12
FEWEST, MOST = 1, 16_384
GROWTH = 4

log = logging.getLogger(__name__)


class RunFailed(Exception):  # noqa: N818  # the run could not be finished; what was played is kept
    """A pairing that ends its worker whenever it is played, with the command that shows it."""


class Prepared(NamedTuple):
    """An experiment ready to be played: openings drawn, agents built, kernels compiled."""

    experiment: Any
    openings: Openings
    schedule: Schedule
    job: Job
    watch: Watch


class Tick(NamedTuple):
    """What a display may show after each batch."""

    done: int  # pairings
    total: int
    played: int  # pairings of this run, not of the one that is continued
    scores: dict[tuple[int, int], tuple[float, int]]  # pair points and pairings by match
    sprt: SprtState | None


def prepare(experiment: Any) -> Prepared:
    """Draw the openings and build every agent once: what cannot be built is told now."""
    of = experiment.of
    openings = make_openings(of, experiment.openings, experiment.pairs, experiment.seed)
    specs = tuple(experiment.agents.values())
    names = tuple(experiment.agents)
    matches = experiment.pairs_of_agents()
    schedule = Schedule(experiment.seed, of.name, names, matches, experiment.pairs, openings.keys)
    rows = new_watch()
    job = Job(of, specs, schedule, openings.slots, experiment.keeps_moves, rows)
    install(job)
    for name, spec in experiment.agents.items():
        agent = build(spec, of)
        agent.start(0)
        if spec.kind != "python":
            agent.choose(of.start())  # compiles before the fork, so that workers inherit it
        log.info("agent %s: %s", name, spec)
    return Prepared(experiment, openings, schedule, job, Watch(rows, experiment.move_seconds))


def play(
    ready: Prepared, store: Store, workers: int, show: Callable[[Tick], None]
) -> SprtState | None:
    """Play what is left, keep it in `store`; the state of the stop rule, if there is one."""
    run = Run(ready, show)
    for start, stop, part in store.parts():
        run.take(Batch(start, stop, b"", standing(part), 0.0))
    run.begun = run.done
    run.tell()
    if run.wants_more:
        pace = Pace(run.done, ready.schedule.total, ready.watch)
        mending = Mending(single_pairings, pace.again, ready.watch.excuses, ready.watch.mend)
        batches = in_order(play_task, pace.tasks(), _pool, workers, mending, ready.watch.look)
        try:
            for batch in batches:
                pace.learn(batch)
                kept = run.stop.cut(batch)
                store.append(kept.start, kept.stop, kept.games)
                run.take(kept)
                run.tell()
                if not run.wants_more:
                    break
        except WorkerDied as death:
            raise _blamed(ready, death.item) from None
        finally:
            batches.close()  # type: ignore[attr-defined]  # it is a generator
    return run.stop.final(run.done == ready.schedule.total)


class Run:
    """What is known so far of the games, batch by batch in schedule order."""

    def __init__(self, ready: Prepared, show: Callable[[Tick], None]) -> None:
        """Nothing is known yet."""
        self.total, self.agents = ready.schedule.total, len(ready.schedule.agents)
        self.show = show
        self.stop = Stop(ready)
        self.scores: dict[tuple[int, int], tuple[float, int]] = {}
        self.done = self.begun = 0

    @property
    def wants_more(self) -> bool:
        """Whether there is a pairing left that should be played."""
        return self.done < self.total and not self.stop.reached

    def take(self, batch: Batch) -> None:
        """Add a batch to the standings and the stop rule."""
        told = batch.standing
        self.stop.see(told.points, batch.start)
        matches = told.a.astype(np.int64) * self.agents + told.b
        for match in np.unique(matches):
            pair = divmod(int(match), self.agents)
            points, pairings = self.scores.get(pair, (0.0, 0))
            of_match = told.points[matches == match]
            self.scores[pair] = points + float(of_match.sum()), pairings + len(of_match)
        self.done = batch.stop

    def tell(self) -> None:
        """Show where the run stands."""
        self.show(Tick(self.done, self.total, self.done - self.begun, self.scores, self.stop.state))


class Pace:
    """Cuts the schedule into batches of about BATCH_SECONDS, as measured so far."""

    def __init__(self, done: int, total: int, watch: Watch) -> None:
        """`done` pairings are finished already."""
        self.next, self.total, self.watch = done, total, watch
        self.size = FEWEST

    def tasks(self) -> Iterator[Task]:
        """The batches, each sized when it is asked for."""
        while self.next < self.total:
            stop = min(self.next + self.size, self.total)
            yield Task(self.next, stop, dict(self.watch.verdicts))
            self.next = stop

    def again(self, task: Task) -> Task:
        """The task with the verdicts reached since it was given out."""
        return task._replace(verdicts=dict(self.watch.verdicts))

    def learn(self, batch: Batch) -> None:
        """Size the next batches by what this one took."""
        wanted = int(BATCH_SECONDS * (batch.stop - batch.start) / max(batch.seconds, 1e-6))
        self.size = max(FEWEST, min(wanted, self.size * GROWTH, MOST))


def single_pairings(task: Task) -> list[Task]:
    """The task cut into pairings."""
    return [task._replace(start=at, stop=at + 1) for at in range(task.start, task.stop)]


class Stop:
    """The stop rule: sees pairings in schedule order only, complete prefixes only."""

    def __init__(self, ready: Prepared) -> None:
        """Without a rule it never stops."""
        rule = ready.experiment.stop
        self.plan: SprtPlan | None = rule.sprt.plan() if rule else None
        self.state = begin(self.plan) if self.plan else None
        self.openings = len(ready.openings)

    @property
    def reached(self) -> bool:
        """Whether no further pairing is wanted."""
        return self.state is not None and self.state.stopped

    def see(self, scores: NDArray[np.float64], done: int) -> None:
        """Take in the scores of the pairings after the first `done`; repeats are no evidence."""
        if self.plan is not None and self.state is not None:
            self.state = advance(self.plan, self.state, scores[: max(0, self.openings - done)])

    def cut(self, batch: Batch) -> Batch:
        """The batch up to the pairing at which the rule stops."""
        if self.plan is None or self.state is None:
            return batch
        told = batch.standing
        fresh = told.points[: max(0, self.openings - batch.start)]
        after = advance(self.plan, self.state, fresh)
        pairings = after.observations - self.state.observations
        if not after.stopped or pairings == batch.stop - batch.start:
            return batch
        games = encoded(first_rows(decoded(batch.games), 2 * pairings))
        shorter = Standing(told.a[:pairings], told.b[:pairings], told.points[:pairings])
        return Batch(batch.start, batch.start + pairings, games, shorter, batch.seconds)

    def final(self, complete: bool) -> SprtState | None:
        """The state at the end: undecided when the openings are used up."""
        return used_up(self.state) if self.state is not None and complete else self.state


def _pool(workers: int) -> Executor:
    """Forked workers that leave Ctrl-C to the parent and do not outlive it."""
    return ProcessPoolExecutor(workers, get_context("fork"), initializer=_begin_worker)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # die with the parent
        if os.getppid() == 1:
            os._exit(1)  # it died before that was set


def _blamed(ready: Prepared, task: Task) -> RunFailed:
    """The failure that names the pairing that ended its worker twice."""
    block = next(ready.schedule.blocks(task.start, task.stop))
    names = ready.schedule.agents
    return RunFailed(
        f"pairing {task.start} ({names[block.a]} against {names[block.b]}) ended its worker twice; "
        f"everything else is kept. To see it happen: python -m arena.run "
        f"{ready.experiment.path} --pairing {task.start}"
    )
