"""Two seconds of trial games, which do not count: they measure the cost and the spread of a run."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from agents.fault_text import fault_text
from arena.planning.games import LOSS, WIN, Batch, Blob, Termination, decode_blob
from arena.planning.openings.openings import first_openings
from arena.planning.schedule import TURN_LENGTH, Schedule, make_schedule
from arena.planning.tasks import Task
from arena.playing.executor import ItemFailed
from arena.playing.forfeits import FIRST_GAMES
from arena.playing.options import PlayOptions
from arena.playing.referee_loop import SEATS
from arena.playing.worker import GameJob
from games.base.progress import Progress, ShowProgress, ignore_progress
from games.perft import play_random_games

PILOT_SECONDS = 2.0
# Slow bots may finish no pair in two seconds: the pilot waits for one, up to this limit.
LONGEST_SECONDS = 20.0
MOST_OPENINGS = 2048
TASK_SECONDS = 0.1
GROWTH = 8
FAIR = [how for how in Termination if how.is_fair]
RANDOM_GAMES = 20  # they show how long a game is if none was finished
# Relative errors of a pair's time: from one batch, from moves in other matches, from one answer.
ONE_BATCH, BY_MOVES, BY_FIRST_ANSWER = 0.5, 0.5, 1.0
MACHINE_VARIATION = 0.15  # relative, of the speed of a machine


class PilotOver(Exception):  # noqa: N818  # an event, not an error of the code
    """The pilot has played long enough."""


class TimeRange(NamedTuple):
    """An estimated time in seconds, with its range."""

    seconds: float
    low: float
    high: float


@dataclass
class MatchSample:
    """The pilot of one match."""

    counts: list[int] = field(default_factory=lambda: [0] * 5)  # pairs by their score
    batches: list[tuple[int, float]] = field(default_factory=list)  # pairs and seconds

    @property
    def pairs(self) -> int:
        """The number of pairs that were played."""
        return sum(self.counts)

    @property
    def pair_seconds(self) -> float:
        """The time of a pair; 0 if none was played."""
        return sum(seconds for _, seconds in self.batches) / max(1, self.pairs)

    @property
    def error(self) -> float:
        """Two standard errors of that time, relative to it."""
        if len(self.batches) < 2 or not self.pair_seconds:
            return ONE_BATCH
        sizes, seconds = np.array(self.batches).T
        residuals = seconds - self.pair_seconds * sizes
        squares = float(np.sum(np.square(residuals))) * len(sizes) / (len(sizes) - 1)
        return float(2.0 * squares**0.5 / seconds.sum())


@dataclass
class MoveTimes:
    """The time of one agent's moves, its finished games, and its failures before the first."""

    seconds: float = 0.0
    moves: int = 0
    finished: int = 0
    failed: int = 0

    @property
    def mean(self) -> float:
        """The time of a move; 0 without moves."""
        return self.seconds / max(1, self.moves)


@dataclass
class PilotResult:
    """The result of a pilot; agents are numbered by their places."""

    samples: dict[tuple[int, int], MatchSample]  # by match
    seconds: float
    # Times of first answers: all that is known of a bot that finished no pair.
    answers: Mapping[int, float] = field(default_factory=dict)
    random_moves: float = 0.0  # moves of a player in two random games
    fault: str = ""  # why the pilot ended early
    moves: dict[int, MoveTimes] = field(default_factory=dict)
    # Bots that failed before the pilot: the seconds of their games until they are disqualified.
    failed_before: Mapping[int, float] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)  # the first fault of each agent

    @property
    def matches_without_time(self) -> list[tuple[int, int]]:
        """The matches with an agent that has neither a game nor an answer."""
        known = {*self.moves, *(self.answers if self.pairs else ())}
        return [
            match
            for match in self.samples
            if not self.failed_before.keys() & set(match)
            and any(place not in known for place in match)
        ]

    @property
    def failing(self) -> dict[int, float]:
        """The bots that fail their first games, and the seconds until they are disqualified."""
        found = dict(self.failed_before)
        for place, own in self.moves.items():
            if own.failed >= FIRST_GAMES or (own.failed and not own.finished):
                times = [
                    each.pair_seconds for match, each in self.samples.items() if place in match
                ]
                found[place] = FIRST_GAMES * max(times) / 2
        return found

    def forfeit_count(self, pairs: Mapping[tuple[int, int], float]) -> int:
        """Return how many games of these pairs are those of bots that fail their first games."""
        return 2 * round(sum(pairs[match] for match in pairs if self.failing.keys() & set(match)))

    @property
    def pairs(self) -> int:
        """The number of pairs that were played."""
        return sum(each.pairs for each in self.samples.values())

    def add_batch(self, match: tuple[int, int], batch: Batch) -> None:
        """Count a batch of pairs of a match."""
        sample = self.samples[match]
        counts = np.bincount(batch.points, minlength=5).tolist()
        sample.counts = [a + b for a, b in zip(sample.counts, counts, strict=True)]
        sample.batches.append((batch.stop - batch.start, batch.seconds))
        blob = decode_blob(batch.blob)
        results, terminations = _column(blob, "result"), _column(blob, "termination")
        fair = np.isin(terminations, FAIR)
        for row in np.flatnonzero(~fair).tolist():
            seat = (0 if results[row] == LOSS else 1) ^ (row & 1)
            text = fault_text(
                Termination(int(terminations[row])).name.lower(), blob.traces.get(row, "")
            )
            self.faults.setdefault(match[seat], text)
        for seat, name in enumerate(SEATS):
            times, moves = _column(blob, f"{name}_nanoseconds"), _column(blob, f"{name}_moves")
            failed = ~fair & (results == (WIN if seat else LOSS))
            for leg in (0, 1):  # the first agent of a match moves first in leg 0
                own = self.moves.setdefault(match[seat ^ leg], MoveTimes())
                own.seconds += float(times[leg::2].sum(dtype=np.int64)) * 1e-9
                own.moves += int(moves[leg::2].sum(dtype=np.int64))
                if not own.finished:
                    own.failed += int(failed[leg::2].sum())
                own.finished += int(fair[leg::2].sum())

    def pair_time(self, match: tuple[int, int]) -> TimeRange:
        """Return the time of a pair: as measured, or else from the moves of both agents."""
        own = self.samples.get(match)
        if own is not None and own.pairs:
            return time_range(own.pair_seconds, own.error)
        moves = sum(self.move_seconds(place) for place in match)
        seconds = self.moves_per_pair * moves + self.other_seconds
        have_played = all(place in self.moves for place in match)
        return time_range(seconds, BY_MOVES if have_played else BY_FIRST_ANSWER)

    def move_seconds(self, place: int) -> float:
        """Return the time of an agent's move: in games, else its first answer, else the mean."""
        if place in self.moves:
            return self.moves[place].mean
        if place in self.answers:
            return self.answers[place]
        return sum(each.mean for each in self.moves.values()) / max(1, len(self.moves))

    @property
    def moves_per_pair(self) -> float:
        """The number of moves that an agent makes in both games of a pair."""
        moves = sum(each.moves for each in self.moves.values())
        return moves / (2 * self.pairs) if moves else self.random_moves

    @property
    def other_seconds(self) -> float:
        """The time of a pair without its moves."""
        total = sum(seconds for each in self.samples.values() for _, seconds in each.batches)
        thinking = sum(each.seconds for each in self.moves.values())
        return max(0.0, total - thinking) / max(1, self.pairs)

    def estimate_time(self, pairs: Mapping[tuple[int, int], float], workers: int) -> TimeRange:
        """Return the time of these numbers of pairs of each match, shared by the workers.

        A bot that fails its first games takes time only until it is disqualified.
        """
        failing = self.failing
        each = [
            (self.pair_time(match), number / workers)
            for match, number in pairs.items()
            if not failing.keys() & set(match)
        ]
        agents = {place for match, number in pairs.items() if number for place in match}
        each += [(time_range(failing[at], BY_FIRST_ANSWER), 1.0) for at in failing.keys() & agents]
        return TimeRange(*(sum(time[at] * share for time, share in each) for at in range(3)))


def _column(blob: Blob, name: str) -> "np.ndarray[tuple[int], np.dtype[np.integer]]":
    """Return a column of a blob with a value in each row."""
    return np.broadcast_to(np.asarray(blob.columns[name]), blob.rows)


def time_range(seconds: float, error: float) -> TimeRange:
    """Return a time with its range, from its relative error and the variation of machines."""
    factor = 1.0 + error + MACHINE_VARIATION
    return TimeRange(seconds, seconds / factor, seconds * factor)


class PilotDeadline:
    """The time of a pilot: some seconds of play once every agent has finished a game."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begun = self.first_batch = 0.0
        self.agents_without_game = set[int]()

    @property
    def is_over(self) -> bool:
        """True if no more games should begin."""
        if not self.first_batch or self.agents_without_game:
            return False
        return time.monotonic() - self.first_batch >= self.seconds

    def check(self) -> None:
        """Raise PilotOver when the time is up; the first call starts the clock."""
        self.begun = self.begun or time.monotonic()
        if self.is_over or time.monotonic() - self.begun >= LONGEST_SECONDS:
            raise PilotOver


def run_pilot(
    schedule: Schedule,
    options: PlayOptions,
    failed_before: Mapping[int, float] = MappingProxyType({}),
    answers: Mapping[int, float] = MappingProxyType({}),
    show: ShowProgress = ignore_progress,
    seconds: float = PILOT_SECONDS,
) -> PilotResult:
    """Play pairs of every match in turn for some seconds.

    Bots in `failed_before` do not play; the values are the seconds of their games until they are
    disqualified. `answers` are the times of bots' first answers.
    """
    trial, deadline = pilot_schedule(schedule), PilotDeadline(seconds)
    samples = {match: MatchSample() for match in trial.pairs.matches}
    playable = [match for match in samples if not set(match) & set(failed_before)]
    moves = play_random_games(schedule.game, RANDOM_GAMES, schedule.plan.seed).moves / RANDOM_GAMES
    pilot = PilotResult(samples, 0.0, answers, moves, failed_before=failed_before)
    if not playable:
        return pilot

    def wait() -> None:
        deadline.check()
        show(Progress(f"pilot: {2 * pilot.pairs:,} games so far"))

    job = GameJob(trial, options._replace(cache=None))
    job.worker.start_bots_first = True
    job.on_wait, job.show = wait, show
    job.prepare()
    begun, tasks = time.monotonic(), PilotTasks(trial, playable, deadline)
    try:
        with closing(job.batches(tasks.next_task)) as batches:
            for batch in batches:
                tasks.add_batch(batch, pilot)
    except PilotOver:
        pass
    except ItemFailed as failure:
        pilot.fault = str(failure)
    pilot.seconds = time.monotonic() - begun
    return pilot


def pilot_schedule(schedule: Schedule) -> Schedule:
    """Return the first openings of the plan, once each and for all matches at the same time."""
    # With more pairs the matches would take turns, and pairs of a match would not be consecutive.
    most = MOST_OPENINGS if len(schedule.plan.matches) == 1 else TURN_LENGTH
    size = min(schedule.plan.pairs, most, len(schedule.openings))
    openings = first_openings(schedule.openings, size)
    plan = replace(schedule.plan, pairs=size, stop=None, rounds=None, keep_moves=False)
    return make_schedule(plan, openings, schedule.pairs.deterministic)


class PilotTasks:
    """The tasks of a pilot: matches in turn, in a random order; quick matches get larger tasks."""

    def __init__(
        self, schedule: Schedule, matches: list[tuple[int, int]], deadline: PilotDeadline
    ) -> None:
        """Begin with one pair of each match."""
        self.schedule, self.deadline = schedule, deadline
        places = [schedule.pairs.matches.index(match) for match in matches]
        random.Random(schedule.plan.seed).shuffle(places)
        self.places = cover_agents_first(places, schedule.pairs.matches)
        deadline.agents_without_game = {agent for match in matches for agent in match}
        self.next = dict.fromkeys(self.places, 0)
        self.size = dict.fromkeys(self.places, 1)
        self.turns = self._turns()

    def _turns(self) -> Iterator[int]:
        pairs = self.schedule.plan.pairs
        while left := [place for place in self.places if self.next[place] < pairs]:
            yield from left

    def next_task(self, _worker: str) -> Task | None:
        """Return the next pairs of the next match; None when the time is up or all are played."""
        place = None if self.deadline.is_over else next(self.turns, None)
        if place is None:
            return None
        pairs, first = self.schedule.plan.pairs, self.next[place]
        self.next[place] = min(pairs, first + self.size[place])
        start = place * pairs
        return Task(start + first, start + self.next[place], {})

    def add_batch(self, batch: Batch, pilot: PilotResult) -> None:
        """Count a batch, and size the next task of its match."""
        self.deadline.first_batch = self.deadline.first_batch or time.monotonic()
        place, size = batch.start // self.schedule.plan.pairs, batch.stop - batch.start
        match = self.schedule.pairs.matches[place]
        pilot.add_batch(match, batch)
        self.deadline.agents_without_game -= {*match}
        best = int(TASK_SECONDS * size / max(batch.seconds, 1e-6))
        self.size[place] = max(1, min(best, self.size[place] * GROWTH))


def cover_agents_first(places: Sequence[int], matches: Sequence[tuple[int, int]]) -> list[int]:
    """Return the matches in this order, but first some in which every agent plays."""
    seen, first = set[int](), []
    for most in (0, 1):  # agents of the match that are in an earlier one
        for place in places:
            if place not in first and len(seen & {*matches[place]}) <= most:
                first.append(place)
                seen |= {*matches[place]}
    return [*first, *(place for place in places if place not in first)]
