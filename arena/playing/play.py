"""Play a schedule until it ends or the stop rule holds."""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import Batch, pair_points
from arena.planning.round_tracker import RoundTracker
from arena.planning.rounds import TournamentStanding
from arena.planning.schedule import DrawnPlan
from arena.planning.tasks import TaskQueue
from arena.playing.bots import unloadable
from arena.playing.cached_pairs import CachedPairs
from arena.playing.forfeits import ForfeitRule
from arena.playing.worker import GameJob, PlayOptions
from arena.stats.anytime import AnytimeScore, start_anytime, update_anytime
from arena.stats.sprt import SprtState, begin, finish_sprt, update_sprt
from arena.storage.journal import Journal

AHEAD = 1 << 12  # pairings in which the next one to be played is looked for
QUARTERS = 4.0  # of a point in a pairing's score
log = logging.getLogger(__name__)


class StopRule:
    """Takes complete prefixes of the schedule; without a test it never stops a run."""

    def __init__(self, drawn: DrawnPlan) -> None:
        """Nothing is taken yet."""
        self.test = drawn.plan.stop
        self.state: SprtState | None = begin(self.test) if self.test else None
        self.openings = len(drawn.openings)

    @property
    def reached(self) -> bool:
        """Whether the run stops here."""
        return self.state is not None and self.state.stopped

    def take(self, start: int, points: NDArray[np.int8]) -> int:
        """Take the points of the pairings from `start` on; returns how many of them count.

        Repeated openings are no evidence.
        """
        if self.test is None or self.state is None:
            return len(points)
        observations = self.state.observations
        fresh = points[: max(0, self.openings - start)] / QUARTERS
        self.state = update_sprt(self.test, self.state, fresh)
        return self.state.observations - observations if self.reached else len(points)

    def cut(self, batch: Batch) -> Batch:
        """The batch up to the pairing at which the rule stops."""
        counted = self.take(batch.start, batch.points)
        return batch._replace(stop=batch.start + counted, points=batch.points[:counted])

    def final(self, complete: bool) -> SprtState | None:
        """The state at the end of the run: undecided if the openings are used up."""
        return finish_sprt(self.state) if self.state is not None and complete else self.state


class Tick(NamedTuple):
    """What a display may show after each batch."""

    done: int  # pairings
    total: int
    played: int  # pairings that were played since the run was started or continued
    standings: dict[tuple[int, int], AnytimeScore]  # by match
    sprt: SprtState | None
    speeds: dict[str, float]  # games a second of workers that have names
    tournament: TournamentStanding | None = (
        None  # of a schedule that goes by rounds: more may follow
    )
    awaited: tuple[int, int] | None = None  # the agents of the next pairing to be played


class PlayResult(NamedTuple):
    """A run that is played: its plan with all rounds, where its stop rule and tournament stand."""

    drawn: DrawnPlan
    sprt: SprtState | None
    tournament: TournamentStanding | None
    known: int = 0  # games that were not played, for they were known


def play_schedule(
    drawn: DrawnPlan,
    journal: Journal,
    options: PlayOptions,
    show: Callable[[Tick], None],
    tell: Callable[[str], object] = log.info,
) -> PlayResult:
    """Play the pairings that the journal does not have, round after round.

    `tell` gets the first fault of each bot, and who forfeits unplayed; UselessBots if that ends it.
    """
    course, stop = RoundTracker(drawn), StopRule(drawn)
    faults = ForfeitRule(drawn, unloadable(drawn, journal, options, tell), tell, course.columns)
    count = ProgressCounter(course, faults.counts.out)
    _load_stored(journal, course, faults, stop, count)
    known = CachedPairs(course.drawn, options.known)
    if count.left and not stop.reached:
        show(count.tick(stop, {}))
        log.info("%d of %d pairings left, %d workers", count.left, count.total, options.workers)
        tasks = course.drawn.tasks(after=count.done)
        tasks.unknown, tasks.out = known.unknown, faults.counts.out
        workers = GameJob(drawn, options)
        workers.tell(faults.show_first, lambda: show(count.tick(stop, options.speeds(tasks))), tell)
        for batch, is_known in _batches(workers, tasks, count, known, faults):
            if not is_known:
                tasks.learn(batch, options.batch_seconds)
            counted = stop.cut(faults.cut(batch))
            journal.append(counted.start, counted.stop, counted.games)
            faults.refuse()
            if is_known:
                known.taken += 2 * (counted.stop - counted.start)
            else:
                known.keep(course.drawn.pairings, batch)
            count.take(counted.start, counted.stop, counted.points)
            tasks.pairings = course.drawn.pairings
            show(count.tick(stop, options.speeds(tasks)))
            if stop.reached:
                break
    log.info("%d of %d pairings are finished", count.done, count.total)
    faults.refuse(over=True)
    return PlayResult(course.drawn, stop.final(not count.left), course.standing, known.taken)


def _load_stored(
    journal: Journal,
    course: RoundTracker,
    faults: ForfeitRule,
    stop: StopRule,
    count: "ProgressCounter",
) -> None:
    """ProgressCounter the games of the journal."""
    for start, end, games in journal.parts(course.columns):
        faults.take(games, 2 * start, logged=True)
        points = pair_points(games)
        stop.take(start, points)
        count.take(start, end, points)
    faults.refuse()
    count.begun = count.done


def _batches(
    workers: GameJob,
    tasks: TaskQueue,
    count: "ProgressCounter",
    known: CachedPairs,
    faults: ForfeitRule,
) -> Iterator[tuple[Batch, bool]]:
    """The batches in schedule order, each with whether it is known; taken one by one."""

    def known_next() -> Iterator[tuple[Batch, bool]]:
        while batch := known.batch(tasks.pairings, count.done):
            yield batch, True

    yield from known_next()
    if not count.left:
        return
    with closing(workers.batches(tasks.next_for)) as batches:
        for batch in batches:
            yield batch, False
            workers.exclude(faults.counts.out)
            yield from known_next()


class ProgressCounter:
    """The progress of a run: pairings done, and the standing of each match."""

    def __init__(self, course: RoundTracker, out: Collection[int] = ()) -> None:
        """Nothing is counted yet; `out` are the bots that are excluded by now."""
        self.course, self.out = course, out
        self.done = self.begun = 0
        self.standings: dict[tuple[int, int], AnytimeScore] = {}

    @property
    def total(self) -> int:
        """How many pairings are known to be played."""
        return self.course.total

    @property
    def left(self) -> int:
        """How many pairings are not finished."""
        return self.total - self.done

    def take(self, start: int, stop: int, points: NDArray[np.int8]) -> None:
        """ProgressCounter pairings `start` to `stop` - 1."""
        pairings = self.course.drawn.pairings
        match, number = pairings.places(np.arange(start, stop))
        for place in np.unique(match):
            pair, own = pairings.matches[place], match == place
            if pair in pairings.fixed:
                own &= number < len(pairings.keys)  # later ones only repeat
            standing = self.standings.get(pair) or self._begun(pair)
            self.standings[pair] = update_anytime(standing, points[own] / QUARTERS)
        self.done = stop
        self.course.take(start, points)

    def _begun(self, pair: tuple[int, int]) -> AnytimeScore:
        """The standing of a match before its first pairing."""
        pairings = self.course.drawn.pairings
        openings = len(pairings.keys)
        repeated = pairings.laid is None and pairings.pairs > openings
        again = pair not in pairings.fixed and repeated
        return start_anytime(openings, again=again)

    def tick(self, stop: StopRule, speeds: dict[str, float]) -> Tick:
        """Where the run stands."""
        played = self.done - self.begun
        standing = self.course.standing
        return Tick(self.done, self.total, played, self.standings, stop.state, speeds, standing,
                    self._awaited())  # fmt: skip

    def _awaited(self) -> tuple[int, int] | None:
        """Return the agents of the first pairing that is to be played and is not counted."""
        pairings = self.course.drawn.pairings
        matches, _ = pairings.places(np.arange(self.done, min(self.done + AHEAD, self.total)))
        met = (pairings.matches[match] for match in dict.fromkeys(matches.tolist()))
        return next((each for each in met if not {*self.out} & {*each}), None)
