"""Play a schedule until it ends or its stop rule is reached."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import PAIR_POINTS, Batch, pair_points
from arena.planning.rounds import TournamentStanding
from arena.planning.schedule import RoundTracker, Schedule
from arena.planning.tasks import BATCH_SECONDS, TaskQueue
from arena.playing.bots import find_unloadable
from arena.playing.cached_pairs import CachedPairs
from arena.playing.forfeits import ForfeitRule
from arena.playing.options import PlayOptions
from arena.playing.progress import ProgressCounter
from arena.playing.worker import GameJob
from arena.stats.stopping import StopState, finish_stop, start_stop, update_stop
from arena.storage.journal import Section
from games.base.progress import ShowProgress, ignore_progress

# A client and a scheduler handle about 800 tasks per second (docs/evidence/cluster.md). At a
# quarter of that they answer without delay.
MAX_TASKS_PER_SECOND = 200
log = logging.getLogger(__name__)


class StopRule:
    """The stop rule of a plan, which sees complete prefixes of the schedule."""

    def __init__(self, schedule: Schedule) -> None:
        """Without `plan.stop` the rule never stops a run."""
        self.plan, pairs = schedule.plan.stop, schedule.pairs.pairs_per_match
        self.state: StopState | None = start_stop(self.plan) if self.plan else None
        self.openings = len(schedule.openings)
        # A match that plays all openings there are is exact at its end.
        gives_up = schedule.plan.gives_up and not schedule.census
        self.most = min(pairs, self.openings) if gives_up else None

    @property
    def should_stop(self) -> bool:
        """True if the run stops."""
        return self.state is not None and self.state.is_finished

    def add_points(self, start: int, points: NDArray[np.int8]) -> int:
        """Add the points of the pairs from `start` on; return how many of them count.

        Openings that are played again are no evidence.
        """
        if self.plan is None or self.state is None:
            return len(points)
        observations = self.state.observations
        fresh = points[: max(0, self.openings - start)] / PAIR_POINTS
        self.state = update_stop(self.plan, self.state, fresh, self.most)
        if self.most is not None and self.state.observations >= self.most:
            self.state = finish_stop(self.state)  # later pairs repeat openings
        return self.state.observations - observations if self.should_stop else len(points)

    def truncate_batch(self, batch: Batch) -> Batch:
        """Return the batch up to the pair at which the rule stops."""
        counted = self.add_points(batch.start, batch.points)
        return batch._replace(stop=batch.start + counted, points=batch.points[:counted])

    def final_state(self, complete: bool) -> StopState | None:
        """Return the state at the end of the run: undecided if the openings are used up."""
        return finish_stop(self.state) if self.state is not None and complete else self.state


class PlayResult(NamedTuple):
    """The end of a run: its schedule with all rounds, its stop rule and its tournament."""

    schedule: Schedule
    stop: StopState | None
    tournament: TournamentStanding | None
    cached_games: int = 0  # games that were taken from the game cache


def play_schedule(
    schedule: Schedule,
    section: Section,
    options: PlayOptions,
    *,
    show: ShowProgress = ignore_progress,
    notify: Callable[[str], object] = log.info,
) -> PlayResult:
    """Play what the section does not have, in schedule order, up to the stop rule or last round.

    `notify` gets the first fault of each bot, and each bot that is disqualified; UselessBots if
    the plan stops because of them.
    """
    rounds, stop = RoundTracker(schedule), StopRule(schedule)
    reasons = find_unloadable(schedule, section, options, show)
    faults = ForfeitRule(schedule, reasons, notify, rounds.columns)
    count = ProgressCounter(rounds, faults.counts.disqualified)
    _count_stored_games(section, rounds, faults, stop, count)
    cached = CachedPairs(rounds.schedule, options.cache)
    if count.remaining and not stop.should_stop:
        show(count.progress(stop.state, {}))
        log.info("%d of %d pairs left, %d workers", count.remaining, count.total, options.workers)
        tasks = TaskQueue(count.done, rounds.schedule.pairs)
        tasks.pairs_to_play, tasks.disqualified = cached.pairs_to_play, faults.counts.disqualified
        job, seconds = GameJob(schedule, options), batch_seconds(options)
        job.on_fault, job.show = faults.show_first, show

        def show_count() -> None:
            show(count.progress(stop.state, worker_speeds(options, tasks)))

        job.on_wait = show_count
        for batch, is_cached in _batches(job, tasks, count, cached, faults):
            if not is_cached:
                tasks.learn(batch, seconds)
            counted = stop.truncate_batch(faults.apply(batch))
            section.append(counted.start, counted.stop, counted.blob)
            faults.raise_if_useless()
            if is_cached:
                cached.game_count += 2 * (counted.stop - counted.start)
            else:
                cached.store_batch(rounds.schedule.pairs, batch)
            count.add(counted.start, counted.stop, counted.points)
            tasks.pairs = rounds.schedule.pairs
            show_count()
            if stop.should_stop:
                break
    log.info("%d of %d pairs are finished", count.done, count.total)
    faults.raise_if_useless(over=True)
    final = stop.final_state(complete=not count.remaining)
    return PlayResult(rounds.schedule, final, rounds.standing, cached.game_count)


def batch_seconds(options: PlayOptions) -> float:
    """Return how long a task should take: longer with many workers on one scheduler."""
    slots = 0 if options.cluster is None else options.cluster.slots
    return max(BATCH_SECONDS, slots / MAX_TASKS_PER_SECOND)


def worker_speeds(options: PlayOptions, tasks: TaskQueue) -> dict[str, float]:
    """Return the games per second of each worker of the cluster in its last batch."""
    if options.cluster is None:
        return {}
    return {
        worker.name: 2 * tasks.speeds[worker.address] * worker.slots
        for worker in options.cluster.workers.present.values()
        if worker.address in tasks.speeds
    }


def _count_stored_games(
    section: Section,
    rounds: RoundTracker,
    faults: ForfeitRule,
    stop: StopRule,
    count: ProgressCounter,
) -> None:
    for start, end, games in section.games(rounds.columns):
        faults.count_games(games, 2 * start, logged=True)
        points = pair_points(games)
        stop.add_points(start, points)
        count.add(start, end, points)
    faults.raise_if_useless()
    count.start()


def _batches(
    job: GameJob,
    tasks: TaskQueue,
    count: ProgressCounter,
    cached: CachedPairs,
    faults: ForfeitRule,
) -> Iterator[tuple[Batch, bool]]:
    """Yield the batches in schedule order, each with whether it was cached."""

    def batches_from_cache() -> Iterator[tuple[Batch, bool]]:
        while batch := cached.batch(tasks.pairs, count.done):
            yield batch, True

    yield from batches_from_cache()
    if not count.remaining:
        return
    with closing(job.batches(tasks.next_task)) as batches:
        for batch in batches:
            yield batch, False
            job.disqualify(faults.counts.disqualified)
            yield from batches_from_cache()
