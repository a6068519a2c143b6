"""The tournament: the pairings that are left of a plan, played in schedule order."""

import logging
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan
from arena.planning.records import pair_points
from arena.playing.stop_rule import QUARTERS, StopRule
from arena.playing.workers import PlayOptions, Workers
from arena.stats.sprt import SprtState
from arena.stats.watching import Standing, begun, observe

log = logging.getLogger(__name__)


class Tick(NamedTuple):
    """What a display may show after each batch."""

    done: int  # pairings
    total: int
    played: int  # pairings that were played since the run was started or continued
    standings: dict[tuple[int, int], Standing]  # by match
    sprt: SprtState | None
    speeds: dict[str, float]  # games a second of workers that have names


def play(
    drawn: DrawnPlan, journal: Journal, options: PlayOptions, show: Callable[[Tick], None]
) -> SprtState | None:
    """Play the pairings that the journal does not have; returns the stop rule's state, if any."""
    count, stop = Count(drawn), StopRule(drawn)
    for start, end, games in journal.parts(drawn.pairings):
        points = pair_points(games)
        stop.take(start, points)
        count.take(start, end, points)
    count.begun = count.done
    if count.left and not stop.reached:
        show(count.tick(stop, {}))
        log.info(
            "%d of %d pairings are left, for %d workers", count.left, count.total, options.workers
        )
        tasks = drawn.tasks(after=count.done)
        with closing(Workers(drawn, options).batches(tasks.next_for)) as batches:
            for batch in batches:
                tasks.learn(batch, options.batch_seconds)
                counted = stop.cut(batch)
                journal.append(counted.start, counted.stop, counted.games)
                count.take(counted.start, counted.stop, counted.points)
                show(count.tick(stop, options.speeds(tasks)))
                if stop.reached:
                    break
    log.info("%d of %d pairings are finished", count.done, count.total)
    return stop.final(complete=not count.left)


class Count:
    """The progress of a run: pairings done, and the standing of each match."""

    def __init__(self, drawn: DrawnPlan) -> None:
        """Nothing is counted yet."""
        self.pairings = drawn.pairings
        self.total = drawn.pairings.total
        self.done = self.begun = 0
        self.standings: dict[tuple[int, int], Standing] = {}

    @property
    def left(self) -> int:
        """How many pairings are not finished."""
        return self.total - self.done

    def take(self, start: int, stop: int, points: NDArray[np.int8]) -> None:
        """Count pairings `start` to `stop` - 1."""
        match, number = self.pairings.places(np.arange(start, stop))
        for place in np.unique(match):
            pair, own = self.pairings.matches[place], match == place
            if pair in self.pairings.fixed:
                own &= number < len(self.pairings.keys)  # later ones only repeat
            standing = self.standings.get(pair) or self._begun(pair)
            self.standings[pair] = observe(standing, points[own] / QUARTERS)
        self.done = stop

    def _begun(self, pair: tuple[int, int]) -> Standing:
        """The standing of a match before its first pairing."""
        openings = len(self.pairings.keys)
        again = pair not in self.pairings.fixed and self.pairings.pairs > openings
        return begun(openings, again=again)

    def tick(self, stop: StopRule, speeds: dict[str, float]) -> Tick:
        """Where the run stands."""
        played = self.done - self.begun
        return Tick(self.done, self.total, played, self.standings, stop.state, speeds)
