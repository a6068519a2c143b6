"""A pilot: two seconds of the games of a plan, none of which counts: their cost and spread."""

import contextlib
import random
import time
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from arena.planning.drawing import DrawnPlan, draw
from arena.planning.game_blobs import Batch
from arena.planning.openings import first_openings
from arena.planning.pairings import TURN
from arena.planning.tasks import Task
from arena.playing.interrupts import Interrupts
from arena.playing.workers import PlayOptions, RunFailed, Workers

PILOT_SECONDS = 2.0
# Slow bots finish no pairing in two seconds: one at least is waited for, but not for ever.
LONGEST_SECONDS = 20.0
MOST_OPENINGS = 2048
TASK_SECONDS = 0.1
GROWTH = 8


class PilotOver(Exception):  # noqa: N818  # the end of a pilot
    """The pilot has played long enough."""


@dataclass
class Sample:
    """What was seen of one match: five counts of pair scores, and what batches of pairings took."""

    counts: list[int] = field(default_factory=lambda: [0] * 5)
    batches: list[tuple[int, float]] = field(default_factory=list)  # pairings, seconds

    @property
    def pairings(self) -> int:
        """All pairings that were played."""
        return sum(self.counts)

    @property
    def pairing_seconds(self) -> float:
        """The time of a pairing; 0 if none was played. The first ones also start the bots."""
        later = [each for each in self.batches if each[0] > 1] or self.batches[1:] or self.batches
        return sum(each[1] for each in later) / max(1, sum(each[0] for each in later))


@dataclass
class Pilot:
    """A finished pilot: its matches by their agents' places, and why it ended early if it did."""

    samples: dict[tuple[int, int], Sample]
    seconds: float
    fault: str = ""

    @property
    def pairings(self) -> int:
        """All pairings that were played."""
        return sum(each.pairings for each in self.samples.values())

    def pairing_seconds(self, match: tuple[int, int]) -> float:
        """The time of a pairing of a match; the mean of the others if it was not played."""
        own = self.samples.get(match)
        if own is not None and own.pairings:
            return own.pairing_seconds
        seen = [each.pairing_seconds for each in self.samples.values() if each.pairings]
        return sum(seen) / len(seen) if seen else 0.0


class PilotTime(Interrupts):
    """The time of a pilot, beside the signals of whoever asked for it."""

    def __init__(self, outer: Interrupts) -> None:
        """The clock begins with the first look."""
        super().__init__()
        self.outer, self.begun, self.finished_any = outer, 0.0, False

    @property
    def over(self) -> bool:
        """Whether no more games should begin."""
        return bool(self.begun) and time.monotonic() - self.begun >= PILOT_SECONDS

    def look(self) -> None:
        """Raise when the time is up, or a signal arrived."""
        self.outer.look()
        self.begun = self.begun or time.monotonic()
        late = time.monotonic() - self.begun >= LONGEST_SECONDS
        if late or (self.over and self.finished_any):
            raise PilotOver

    @contextlib.contextmanager
    def wait_for_look(self) -> Iterator[None]:
        """As those of whoever asked."""
        with self.outer.wait_for_look():
            yield


def pilot_of(drawn: DrawnPlan, options: PlayOptions, without: Collection[int] = ()) -> Pilot:
    """Play pairings of every match in turn for two seconds; agents in `without` do not play."""
    trial, clock = shortened(drawn), PilotTime(options.interrupts)
    samples = {match: Sample() for match in trial.pairings.matches}
    playable = [match for match in samples if not set(match) & set(without)]
    pilot = Pilot(samples, 0.0)
    if not playable:
        return pilot
    workers = Workers(trial, options._replace(interrupts=clock, known=None))
    workers.get_ready()
    begun, tasks = time.monotonic(), PilotTasks(trial, playable, clock)
    try:
        with closing(workers.batches(tasks.next_for)) as batches:
            for batch in batches:
                tasks.learn(batch, samples)
    except PilotOver:
        pass
    except RunFailed as failure:
        pilot.fault = str(failure)
    pilot.seconds = time.monotonic() - begun
    return pilot


def shortened(drawn: DrawnPlan) -> DrawnPlan:
    """The first openings of the plan, once each and for all matches at the same time."""
    most = MOST_OPENINGS if len(drawn.plan.matches) == 1 else TURN  # numbers follow one another
    size = min(drawn.plan.pairs, most, len(drawn.openings))
    openings = first_openings(drawn.openings, size)
    plan = replace(drawn.plan, pairs=size, stop=None, rounds=None, keep_moves=False)
    return draw(plan, openings, drawn.pairings.fixed)


class PilotTasks:
    """The tasks of a pilot: each match in turn, in an order drawn once, larger as they are fast."""

    def __init__(self, trial: DrawnPlan, matches: list[tuple[int, int]], clock: PilotTime) -> None:
        """Nothing is played yet."""
        self.trial, self.clock = trial, clock
        self.places = [trial.pairings.matches.index(match) for match in matches]
        random.Random(trial.plan.seed).shuffle(self.places)
        self.next = dict.fromkeys(self.places, 0)
        self.size = dict.fromkeys(self.places, 1)
        self.turns = self._turns()

    def _turns(self) -> Iterator[int]:
        while left := [place for place in self.places if self.next[place] < self.trial.plan.pairs]:
            yield from left

    def next_for(self, _worker: str) -> Task | None:
        """The next pairings of the next match; None when the time is up or all are played."""
        place = None if self.clock.over else next(self.turns, None)
        if place is None:
            return None
        pairs, first = self.trial.plan.pairs, self.next[place]
        self.next[place] = min(pairs, first + self.size[place])
        start = place * pairs
        return Task(start + first, start + self.next[place], {})

    def learn(self, batch: Batch, samples: dict[tuple[int, int], Sample]) -> None:
        """Count a batch, and size the next one of its match."""
        self.clock.finished_any = True
        place, size = batch.start // self.trial.plan.pairs, batch.stop - batch.start
        sample = samples[self.trial.pairings.matches[place]]
        seen = np.bincount(batch.points, minlength=5).tolist()
        sample.counts = [a + b for a, b in zip(sample.counts, seen, strict=True)]
        sample.batches.append((size, batch.seconds))
        wanted = int(TASK_SECONDS * size / max(batch.seconds, 1e-6))
        self.size[place] = max(1, min(wanted, self.size[place] * GROWTH))
