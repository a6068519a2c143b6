"""Playing an experiment: schedule -> workers -> journal -> stop, in schedule order throughout."""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from arena.keeping.game_blobs import decoded, encoded
from arena.keeping.journal import Journal
from arena.planning.openings import Openings, make_openings
from arena.planning.pairings import Pairings
from arena.planning.plan import Plan
from arena.planning.records import first_rows, pair_points
from arena.playing.dry_run import try_out
from arena.playing.in_order import ItemFailed, Recovery, in_order
from arena.playing.interrupts import Interrupts
from arena.playing.referee_loop import has_own_code
from arena.playing.watchdog import Watchdog, new_watch
from arena.playing.workers import Batch, Job, Task, Worker, install, play_task
from arena.stats.anytime import ConfidenceSequence, observe
from arena.stats.anytime import watch as nothing_observed
from arena.stats.sprt import SprtPlan, SprtState, advance, begin, used_up

BATCH_SECONDS = 0.12
FEWEST, MOST = 1, 131_072
GROWTH = 8
NOTHING_SEEN = nothing_observed()
QUARTERS = 4.0  # of a point in a pairing's score

log = logging.getLogger(__name__)


class RunFailed(Exception):  # noqa: N818  # the run could not be finished; what was played is kept
    """A pairing that cannot be played; `pairing` is its number."""

    def __init__(self, pairing: int, told: str) -> None:
        """`told` says who played and what happened."""
        super().__init__(f"pairing {pairing} {told}")
        self.pairing = pairing


class Prepared(NamedTuple):
    """An experiment with its openings drawn and its schedule fixed; nothing is built yet."""

    plan: Plan
    openings: Openings
    schedule: Pairings
    job: Job
    watch: Watchdog


class Tick(NamedTuple):
    """What a display may show after each batch."""

    done: int  # pairings
    total: int
    played: int  # pairings of this run, not of the one that is continued
    standings: dict[tuple[int, int], ConfidenceSequence]  # by match
    sprt: SprtState | None


def prepare(plan: Plan) -> Prepared:
    """Draw the openings and fix the schedule; an OpeningsError says why it cannot be."""
    of, names, specs = plan.of, plan.names, tuple(plan.agents.values())
    openings = make_openings(of, plan.openings, plan.pairs, plan.seed)
    schedule = Pairings(plan.seed, of.name, names, plan.matches, plan.pairs, openings.keys)
    watch = Watchdog(new_watch(), plan.move_seconds)
    job = Job(of, specs, schedule, openings.slots, plan.keep_moves, watch.rows)
    return Prepared(plan, openings, schedule, job, watch)


def play(
    ready: Prepared,
    store: Journal,
    workers: int,
    show: Callable[[Tick], None],
    interrupts: Interrupts,
) -> SprtState | None:
    """Play what is left, keep it in `store`; the state of the stop rule, if there is one."""
    run = Run(ready, show)
    for start, stop, games in store.parts(ready.schedule):
        run.take(start, stop, pair_points(games))
    run.begun = run.done
    if run.wants_more:
        get_ready(ready)
        run.tell()
        log.info("%d of %d pairings are left, for %d workers", run.left, run.total, workers)
        pace = Pace(run.done, ready.schedule.total)
        with closing(batches(ready, pace.tasks(), workers, interrupts)) as found:
            for batch in found:
                pace.learn(batch)
                kept = run.stop.cut(batch, ready.schedule)
                store.append(kept.start, kept.stop, kept.games)
                run.take(kept.start, kept.stop, kept.points)
                run.tell()
                if not run.wants_more:
                    break
    log.info("%d of %d pairings are finished", run.done, run.total)
    return run.stop.final(run.done == ready.schedule.total)


def get_ready(ready: Prepared) -> None:
    """Build every agent once, and compile what workers will inherit; what cannot be is told."""
    tried: list[AgentSpec] = []
    for spec in ready.job.specs:
        if has_own_code(spec) and spec not in tried:
            try_out(spec, ready.job.of, ready.plan.move_seconds)
            tried.append(spec)
    worker = Worker(ready.job)
    worker.warm()
    install(worker)


def batches(
    ready: Prepared, tasks: Iterable[Task], workers: int, interrupts: Interrupts
) -> Generator[Batch, None, None]:
    """The games of the tasks, in their order, played in processes by what `get_ready` made."""
    watch = ready.watch

    def look_around() -> None:
        watch.look()
        interrupts.look()

    def again(task: Task) -> Task:
        return task._replace(verdicts=watch.within(task.start, task.stop))

    mending = Recovery(single_pairings, again, lambda task: watch.excuses(task.start), watch.mend)
    try:
        with interrupts.wait_for_look():
            yield from in_order(play_task, iter(tasks), workers, mending, look_around)
    except ItemFailed as failure:
        raise _blamed(ready, failure) from None


class Run:
    """What is known so far of the games, batch by batch in schedule order."""

    def __init__(self, ready: Prepared, show: Callable[[Tick], None]) -> None:
        """Nothing is known yet."""
        self.schedule, self.total = ready.schedule, ready.schedule.total
        self.show = show
        self.stop = StopRule(ready)
        self.standings: dict[tuple[int, int], ConfidenceSequence] = {}
        self.done = self.begun = 0

    @property
    def wants_more(self) -> bool:
        """Whether there is a pairing left that should be played."""
        return self.done < self.total and not self.stop.reached

    @property
    def left(self) -> int:
        """Pairings that are not finished."""
        return self.total - self.done

    def take(self, start: int, stop: int, points: NDArray[np.int8]) -> None:
        """Add pairings to the standings and the stop rule."""
        scores = points / QUARTERS
        self.stop.see(scores, start)
        match, number = self.schedule.places(np.arange(start, stop))
        for place in np.unique(match):
            pair, own = self.schedule.matches[place], match == place
            if pair in self.schedule.fixed:
                own &= number < len(self.schedule.keys)  # what comes after says nothing new
            self.standings[pair] = observe(self.standings.get(pair, NOTHING_SEEN), scores[own])
        self.done = stop

    def tell(self) -> None:
        """Show where the run stands."""
        played, state = self.done - self.begun, self.stop.state
        self.show(Tick(self.done, self.total, played, self.standings, state))


class Pace:
    """Cuts the schedule into batches of about BATCH_SECONDS, as measured so far."""

    def __init__(self, done: int, total: int) -> None:
        """`done` pairings are finished already."""
        self.next, self.total = done, total
        self.size = FEWEST

    def tasks(self) -> Iterator[Task]:
        """The batches, each sized when it is asked for."""
        while self.next < self.total:
            stop = min(self.next + self.size, self.total)
            yield Task(self.next, stop, {})
            self.next = stop

    def learn(self, batch: Batch) -> None:
        """Size the next batches by what this one took."""
        wanted = int(BATCH_SECONDS * (batch.stop - batch.start) / max(batch.seconds, 1e-6))
        self.size = max(FEWEST, min(wanted, self.size * GROWTH, MOST))


def single_pairings(task: Task) -> list[Task]:
    """The task cut into pairings."""
    return [task._replace(start=at, stop=at + 1) for at in range(task.start, task.stop)]


class StopRule:
    """The stop rule: sees pairings in schedule order only, complete prefixes only."""

    def __init__(self, ready: Prepared) -> None:
        """Without a rule it never stops."""
        self.plan: SprtPlan | None = ready.plan.stop
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

    def cut(self, batch: Batch, schedule: Pairings) -> Batch:
        """The batch up to the pairing at which the rule stops."""
        if self.plan is None or self.state is None:
            return batch
        fresh = batch.points[: max(0, self.openings - batch.start)] / QUARTERS
        after = advance(self.plan, self.state, fresh)
        pairings = after.observations - self.state.observations
        if not after.stopped or pairings == batch.stop - batch.start:
            return batch
        games = decoded([batch.games], schedule.columns(batch.start, batch.stop))
        return batch._replace(
            stop=batch.start + pairings,
            games=encoded(first_rows(games, 2 * pairings)),
            points=batch.points[:pairings],
        )

    def final(self, complete: bool) -> SprtState | None:
        """The state at the end: undecided when the openings are used up."""
        return used_up(self.state) if self.state is not None and complete else self.state


def _blamed(ready: Prepared, failure: ItemFailed) -> RunFailed:
    """The failure that names the pairing, and how to see it again."""
    pairing = failure.item.start
    block = next(ready.schedule.blocks(pairing, pairing + 1))
    names = ready.schedule.agents
    if failure.trace:
        log.error("pairing %d is void: %s", pairing, failure.trace)
    what = failure.trace.rpartition("\n")[2] or "ended its worker"
    return RunFailed(pairing, f"({names[block.a]} against {names[block.b]}): {what}, also alone")
