"""Play a schedule until it ends or the stop rule holds."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import PAIR_POINTS, Batch, pair_points
from arena.planning.rounds import TournamentStanding
from arena.planning.schedule import DrawnPlan, RoundTracker
from arena.planning.tasks import BATCH_SECONDS, TaskQueue
from arena.playing.bots import unloadable
from arena.playing.cached_pairs import CachedPairs
from arena.playing.forfeits import ForfeitRule
from arena.playing.options import PlayOptions
from arena.playing.progress import ProgressCounter
from arena.playing.worker import GameJob
from arena.stats.sprt import SprtState, begin, finish_sprt, update_sprt
from arena.storage.journal import Section
from games.base.progress import ShowProgress, ignore_progress

# A client and a scheduler do about 800 tasks a second (docs/cluster.md). With a quarter of that
# they answer at once.
MAX_TASKS_PER_SECOND = 200
log = logging.getLogger(__name__)


class StopRule:
    """Follows the stop rule of a plan over complete prefixes of the schedule."""

    def __init__(self, drawn: DrawnPlan) -> None:
        """Without a test the rule never stops a run."""
        self.test = drawn.plan.stop
        self.state: SprtState | None = begin(self.test) if self.test else None
        self.openings = len(drawn.openings)

    @property
    def is_reached(self) -> bool:
        """Whether the run stops."""
        return self.state is not None and self.state.stopped

    def add_points(self, start: int, points: NDArray[np.int8]) -> int:
        """Add the points of the pairs from `start` on; returns how many of them count.

        Repeated openings are no evidence.
        """
        if self.test is None or self.state is None:
            return len(points)
        observations = self.state.observations
        fresh = points[: max(0, self.openings - start)] / PAIR_POINTS
        self.state = update_sprt(self.test, self.state, fresh)
        return self.state.observations - observations if self.is_reached else len(points)

    def truncate_batch(self, batch: Batch) -> Batch:
        """Return the batch up to the pair at which the rule stops."""
        counted = self.add_points(batch.start, batch.points)
        return batch._replace(stop=batch.start + counted, points=batch.points[:counted])

    def final_state(self, complete: bool) -> SprtState | None:
        """Return the state at the end of the run: undecided if the openings are used up."""
        return finish_sprt(self.state) if self.state is not None and complete else self.state


class PlayResult(NamedTuple):
    """The end of a run: its schedule with all rounds, its test and its tournament."""

    drawn: DrawnPlan
    sprt: SprtState | None
    tournament: TournamentStanding | None
    known: int = 0  # games that were taken from the game cache


def play_schedule(
    drawn: DrawnPlan,
    section: Section,
    options: PlayOptions,
    *,
    show: ShowProgress = ignore_progress,
    notify: Callable[[str], object] = log.info,
) -> PlayResult:
    """Play what the section does not have, in schedule order, up to the stop rule or last round.

    `notify` gets the first fault of each bot, and each bot that is disqualified; UselessBots if
    the run cannot go on without them.
    """
    course, stop = RoundTracker(drawn), StopRule(drawn)
    reasons = unloadable(drawn, section, options, show)
    faults = ForfeitRule(drawn, reasons, notify, course.columns)
    count = ProgressCounter(course, faults.counts.out)
    _load_stored(section, course, faults, stop, count)
    known = CachedPairs(course.drawn, options.known)
    if count.left and not stop.is_reached:
        show(count.progress(stop.state, {}))
        log.info("%d of %d pairings left, %d workers", count.left, count.total, options.workers)
        tasks = TaskQueue(count.done, course.drawn.pairings)
        tasks.unknown, tasks.out = known.unknown, faults.counts.out
        job, seconds = GameJob(drawn, options), batch_seconds(options)
        job.on_fault, job.show = faults.show_first, show

        def show_count() -> None:
            show(count.progress(stop.state, worker_speeds(options, tasks)))

        job.on_wait = show_count
        for batch, is_known in _batches(job, tasks, count, known, faults):
            if not is_known:
                tasks.learn(batch, seconds)
            counted = stop.truncate_batch(faults.cut(batch))
            section.append(counted.start, counted.stop, counted.games)
            faults.refuse()
            if is_known:
                known.taken += 2 * (counted.stop - counted.start)
            else:
                known.keep(course.drawn.pairings, batch)
            count.take(counted.start, counted.stop, counted.points)
            tasks.pairings = course.drawn.pairings
            show_count()
            if stop.is_reached:
                break
    log.info("%d of %d pairings are finished", count.done, count.total)
    faults.refuse(over=True)
    return PlayResult(course.drawn, stop.final_state(not count.left), course.standing, known.taken)


def batch_seconds(options: PlayOptions) -> float:
    """Return how long a task should take: longer with many workers on one scheduler."""
    slots = 0 if options.cluster is None else options.cluster.slots
    return max(BATCH_SECONDS, slots / MAX_TASKS_PER_SECOND)


def worker_speeds(options: PlayOptions, tasks: TaskQueue) -> dict[str, float]:
    """Return the games per second of each worker of the cluster, by its last batch."""
    if options.cluster is None:
        return {}
    return {
        each.name: 2 * tasks.speeds[each.address] * each.slots
        for each in options.cluster.members.there.values()
        if each.address in tasks.speeds
    }


def _load_stored(
    section: Section,
    course: RoundTracker,
    faults: ForfeitRule,
    stop: StopRule,
    count: ProgressCounter,
) -> None:
    """Count the games that the section has."""
    for start, end, games in section.games(course.columns):
        faults.take(games, 2 * start)
        points = pair_points(games)
        stop.add_points(start, points)
        count.take(start, end, points)
    faults.refuse()
    count.begun = count.done


def _batches(
    job: GameJob,
    tasks: TaskQueue,
    count: ProgressCounter,
    known: CachedPairs,
    faults: ForfeitRule,
) -> Iterator[tuple[Batch, bool]]:
    """Yield the batches in schedule order, each with whether it was cached."""

    def next_cached() -> Iterator[tuple[Batch, bool]]:
        while batch := known.batch(tasks.pairings, count.done):
            yield batch, True

    yield from next_cached()
    if not count.left:
        return
    with closing(job.batches(tasks.next_task)) as batches:
        for batch in batches:
            yield batch, False
            job.exclude(faults.counts.out)
            yield from next_cached()
