"""Play two seconds of a plan's games, which do not count, to measure their cost and spread."""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from arena.planning.games import LOSS, WIN, Batch, Termination, decode_blob
from arena.planning.openings.openings import first_openings
from arena.planning.schedule import TURN_LENGTH, DrawnPlan, make_schedule
from arena.planning.tasks import Task
from arena.playing.executor import ItemFailed
from arena.playing.fault_counts import FIRST_GAMES
from arena.playing.options import PlayOptions
from arena.playing.worker import GameJob
from games.playouts import play_random_games

PILOT_SECONDS = 2.0
# Slow bots finish no pair in two seconds: wait for one, up to this limit.
LONGEST_SECONDS = 20.0
MOST_OPENINGS = 2048
TASK_SECONDS = 0.1
GROWTH = 8
SEATS = ("first", "second")
FAIR = [how for how in Termination if how.fair]
RANDOM_GAMES = 20  # which tell how long a game is where none was finished
# Errors of a pairing's time as shares of it: of one batch, of moves elsewhere, of one answer.
ONE_BATCH, BY_MOVES, BY_FIRST_ANSWER = 0.5, 0.5, 1.0
MACHINE = 0.15  # by which the speed of a machine varies


class PilotOver(Exception):  # noqa: N818  # the end of a pilot
    """The pilot has played long enough."""


class TimeRange(NamedTuple):
    """An estimated time in seconds, with its range."""

    seconds: float
    low: float
    high: float


@dataclass
class MatchSample:
    """The pilot of one match: five counts of pair scores, and the times of batches."""

    counts: list[int] = field(default_factory=lambda: [0] * 5)
    batches: list[tuple[int, float]] = field(default_factory=list)  # pairings, seconds

    @property
    def pairings(self) -> int:
        """All pairings that were played."""
        return sum(self.counts)

    @property
    def pairing_seconds(self) -> float:
        """The time of a pair; 0 if none was played."""
        return sum(each[1] for each in self.batches) / max(1, self.pairings)

    @property
    def error(self) -> float:
        """Two standard errors of that time as a share of it."""
        if len(self.batches) < 2 or not self.pairing_seconds:
            return ONE_BATCH
        sizes, seconds = np.array(self.batches).T
        residuals = seconds - self.pairing_seconds * sizes
        squares = float(np.sum(np.square(residuals))) * len(sizes) / (len(sizes) - 1)
        return float(2.0 * squares**0.5 / seconds.sum())


@dataclass
class MoveTimes:
    """The time of one agent's moves, its finished games, and those it failed before."""

    seconds: float = 0.0
    moves: int = 0
    finished: int = 0
    failed: int = 0

    @property
    def each(self) -> float:
        """The time of a move; 0 without moves."""
        return self.seconds / max(1, self.moves)


@dataclass
class PilotResult:
    """A finished pilot: its matches by place of their agents, and why it ended early if it did.

    `answers` are the times of bots' first answers, by place: all that is known of a bot that
    finished no pair.
    """

    samples: dict[tuple[int, int], MatchSample]
    seconds: float
    answers: Mapping[int, float] = field(default_factory=dict)
    random_moves: float = 0.0  # of a player in both of two random games
    fault: str = ""
    moves: dict[int, MoveTimes] = field(default_factory=dict)  # by the agent's place
    # Bots that failed before the pilot, and the seconds of their games until they are excluded.
    without: Mapping[int, float] = field(default_factory=dict)

    @property
    def unfinished(self) -> list[tuple[int, int]]:
        """The matches that were played, of which one agent has finished no game."""
        return [
            match
            for match in self.samples
            if not self.without.keys() & set(match)
            and any(place not in self.moves for place in match)
        ]

    @property
    def failing(self) -> dict[int, float]:
        """Bots that fail their first games, and the seconds until they are excluded."""
        found = dict(self.without)
        for place, own in self.moves.items():
            if own.failed >= FIRST_GAMES or (own.failed and not own.finished):
                pairs = [each.pairing_seconds for at, each in self.samples.items() if place in at]
                found[place] = FIRST_GAMES * max(pairs) / 2
        return found

    def unplayed(self, left: Mapping[tuple[int, int], int]) -> int:
        """Return how many games of these pairings are those of bots that fail their first."""
        return 2 * sum(left[match] for match in left if self.failing.keys() & set(match))

    @property
    def pairings(self) -> int:
        """All pairings that were played."""
        return sum(each.pairings for each in self.samples.values())

    def learn(self, match: tuple[int, int], batch: Batch) -> None:
        """Count a batch of pairs of a match."""
        sample, size = self.samples[match], batch.stop - batch.start
        seen = np.bincount(batch.points, minlength=5).tolist()
        sample.counts = [a + b for a, b in zip(sample.counts, seen, strict=True)]
        sample.batches.append((size, batch.seconds))
        blob = decode_blob(batch.games)
        for seat, name in enumerate(SEATS):
            names = (f"{name}_nanoseconds", f"{name}_moves", "termination", "result")
            times, moves, how, result = (
                np.broadcast_to(np.asarray(blob.columns[each]), blob.rows) for each in names
            )
            fair = np.isin(how, FAIR)
            failed = ~fair & (result == (WIN if seat else LOSS))
            for leg in (0, 1):  # the first agent of a match moves first in the first game
                own = self.moves.setdefault(match[seat ^ leg], MoveTimes())
                own.seconds += float(times[leg::2].sum(dtype=np.int64)) * 1e-9
                own.moves += int(moves[leg::2].sum(dtype=np.int64))
                if not own.finished:
                    own.failed += int(failed[leg::2].sum())
                own.finished += int(fair[leg::2].sum())

    def pairing_time(self, match: tuple[int, int]) -> TimeRange:
        """Return the time of a pair: as measured, else from the moves of both agents."""
        own = self.samples.get(match)
        if own is not None and own.pairings:
            return time_range(own.pairing_seconds, own.error)
        known = [self.move_seconds(place) for place in match]
        seconds = self.moves_a_pairing * sum(known) + self.other_seconds
        seen = all(place in self.moves for place in match)
        return time_range(seconds, BY_MOVES if seen else BY_FIRST_ANSWER)

    def move_seconds(self, place: int) -> float:
        """Return the time of an agent's move: in games, else its first answer, else the mean."""
        if place in self.moves:
            return self.moves[place].each
        if place in self.answers:
            return self.answers[place]
        known = [each.each for each in self.moves.values()]
        return sum(known) / max(1, len(known))

    @property
    def moves_a_pairing(self) -> float:
        """The number of moves that an agent makes in both games of a pair."""
        moves = sum(each.moves for each in self.moves.values())
        return moves / (2 * self.pairings) if moves else self.random_moves

    @property
    def other_seconds(self) -> float:
        """The time of a pair without its moves."""
        whole = sum(seconds for each in self.samples.values() for _, seconds in each.batches)
        thought = sum(each.seconds for each in self.moves.values())
        return max(0.0, whole - thought) / max(1, self.pairings)

    def time_of(self, left: Mapping[tuple[int, int], int], workers: int) -> TimeRange:
        """Return the time of these numbers of pairs of each match, shared by the workers.

        A bot that fails its first games takes time only until it is excluded.
        """
        failing = self.failing
        each = [
            (self.pairing_time(match), pairs / workers)
            for match, pairs in left.items()
            if not failing.keys() & set(match)
        ]
        there = {place for match, pairs in left.items() if pairs for place in match}
        each += [(time_range(failing[at], BY_FIRST_ANSWER), 1.0) for at in failing.keys() & there]
        return TimeRange(*(sum(time[at] * share for time, share in each) for at in range(3)))


def time_range(seconds: float, error: float) -> TimeRange:
    """Return a time with its range, from its relative error and the variation of machines."""
    factor = 1.0 + error + MACHINE
    return TimeRange(seconds, seconds / factor, seconds * factor)


class PilotDeadline:
    """The time of a pilot."""

    def __init__(self) -> None:
        """The longest time begins with the first look, the usual one with the first batch."""
        self.begun = self.first_batch = 0.0

    @property
    def over(self) -> bool:
        """Whether no more games should begin; bots have had time to start and to compile."""
        return bool(self.first_batch) and time.monotonic() - self.first_batch >= PILOT_SECONDS

    def check(self) -> None:
        """Raise PilotOver when the time is up."""
        self.begun = self.begun or time.monotonic()
        if self.over or time.monotonic() - self.begun >= LONGEST_SECONDS:
            raise PilotOver


def run_pilot(
    drawn: DrawnPlan,
    options: PlayOptions,
    without: Mapping[int, float] = MappingProxyType({}),
    answers: Mapping[int, float] = MappingProxyType({}),
) -> PilotResult:
    """Play pairs of every match in turn for two seconds.

    Bots in `without` do not play; their games until they are excluded take so many seconds.
    `answers` are the times of first answers, by the places of bots.
    """
    trial, clock = pilot_schedule(drawn), PilotDeadline()
    samples = {match: MatchSample() for match in trial.pairings.matches}
    playable = [match for match in samples if not set(match) & set(without)]
    moves = play_random_games(drawn.of, RANDOM_GAMES, drawn.plan.seed).moves / RANDOM_GAMES
    pilot = PilotResult(samples, 0.0, answers, moves, without=without)
    if not playable:
        return pilot
    job = GameJob(trial, options._replace(known=None))
    job.worker.starts_apart = True
    job.on_wait = clock.check
    job.prepare()
    begun, tasks = time.monotonic(), PilotTasks(trial, playable, clock)
    try:
        with closing(job.batches(tasks.next_task)) as batches:
            for batch in batches:
                tasks.learn(batch, pilot)
    except PilotOver:
        pass
    except ItemFailed as failure:
        pilot.fault = str(failure)
    pilot.seconds = time.monotonic() - begun
    return pilot


def pilot_schedule(drawn: DrawnPlan) -> DrawnPlan:
    """Return the first openings of the plan, once each and for all matches at the same time."""
    most = (
        MOST_OPENINGS if len(drawn.plan.matches) == 1 else TURN_LENGTH
    )  # numbers follow one another
    size = min(drawn.plan.pairs, most, len(drawn.openings))
    openings = first_openings(drawn.openings, size)
    plan = replace(drawn.plan, pairs=size, stop=None, rounds=None, keep_moves=False)
    return make_schedule(plan, openings, drawn.pairings.fixed)


class PilotTasks:
    """The tasks of a pilot: each match in turn, in an order drawn once, larger as they are fast."""

    def __init__(
        self, trial: DrawnPlan, matches: list[tuple[int, int]], clock: PilotDeadline
    ) -> None:
        """Begin with one pair of each match."""
        self.trial, self.clock = trial, clock
        self.places = [trial.pairings.matches.index(match) for match in matches]
        random.Random(trial.plan.seed).shuffle(self.places)
        self.next = dict.fromkeys(self.places, 0)
        self.size = dict.fromkeys(self.places, 1)
        self.turns = self._turns()

    def _turns(self) -> Iterator[int]:
        while left := [place for place in self.places if self.next[place] < self.trial.plan.pairs]:
            yield from left

    def next_task(self, _worker: str) -> Task | None:
        """Return the next pairs of the next match; None when the time is up or all are played."""
        place = None if self.clock.over else next(self.turns, None)
        if place is None:
            return None
        pairs, first = self.trial.plan.pairs, self.next[place]
        self.next[place] = min(pairs, first + self.size[place])
        start = place * pairs
        return Task(start + first, start + self.next[place], {})

    def learn(self, batch: Batch, pilot: PilotResult) -> None:
        """Count a batch, and size the next one of its match."""
        self.clock.first_batch = self.clock.first_batch or time.monotonic()
        place, size = batch.start // self.trial.plan.pairs, batch.stop - batch.start
        pilot.learn(self.trial.pairings.matches[place], batch)
        wanted = int(TASK_SECONDS * size / max(batch.seconds, 1e-6))
        self.size[place] = max(1, min(wanted, self.size[place] * GROWTH))
