"""A run judged: step by step farther back, kept in a journal, the same for any workers."""

import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from arena.judging.judge_crew import JudgeCrew, JudgedPortion, Portion, unpacked
from arena.judging.judged_run import JudgedRun
from arena.keeping.journal import Journal
from arena.keeping.provenance import code_digest
from arena.keeping.run_directory import GAMES, NotARun
from arena.planning.drawing import draw
from arena.playing.in_order import ItemFailed, in_order, in_turn
from arena.playing.interrupts import Interrupts
from arena.playing.workers import PlayOptions
from games.solving import SolverSettings
from games.solving.hopeless import most_solved, still_open, usual_last, what_is_open
from games.solving.judged_plies import (
    UNSIZED_NODES,
    JudgeLimits,
    Plies,
    Reached,
    first_judged,
)
from games.terminal import Mistake, Unfinished, say

AT_ONCE = 16  # lines in a portion: it decides what the table knows, so all runs have the same
TABLE_BITS = 21
STEP = 2  # beans or squares that each further step goes back
# Positions that a question may take; where nobody knows what makes it hard, every game comes to it.
USUAL_NODES = JudgeLimits().nodes


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What is judged: `last` beans or squares, of all games; then on for as many `seconds`."""

    last: int | None = None  # None: as many as are judged in a few seconds
    seconds: float | None = None
    nodes: int | None = None  # of one question; None: what the game's kind has by default
    database_beans: int | None = None


class TimeIsUp(Exception):  # noqa: N818  # what happened, not an error
    """The seconds that were asked for are over."""


class Deadline(Interrupts):
    """Signals as before, and an end."""

    def __init__(self, interrupts: Interrupts, seconds: float | None) -> None:
        """The time begins now."""
        super().__init__()
        self.interrupts = interrupts
        self.end = None if seconds is None else time.monotonic() + seconds

    def look(self) -> None:
        """Raise what has arrived."""
        self.interrupts.look()
        if self.end is not None and time.monotonic() > self.end:
            raise TimeIsUp


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the judge is: lines of this step, and how far back the step goes."""

    done: int
    total: int
    last: int | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of every line of a run, and how far back the last whole step went."""

    run: JudgedRun
    plies: tuple[Plies, ...]
    last: int | None  # None: to the start, or as far as the positions of a question allow
    complete: bool  # whether no step was cut short by the clock


def judge(
    run: JudgedRun,
    settings: JudgeSettings,
    options: PlayOptions,
    show: Callable[[Progress], None] = lambda _: None,
    tell: Callable[[str], None] = say,
) -> Judgement:
    """Judge what the journal does not have; the journal keeps every portion."""
    if problem := endless(run, settings):
        raise Mistake(problem)
    name = digest_of(run, settings)
    deadline = Deadline(options.interrupts, settings.seconds)
    drawn = None if options.cluster is None else draw(run.plan)
    crew = JudgeCrew(
        run.of,
        SolverSettings(TABLE_BITS, settings.database_beans),
        options._replace(interrupts=deadline),
        drawn,
        tell,
    )
    with Journal(run.directory / f"judged-{name}", name, None) as journal:
        walk = Walk(run, journal)
        last: int | None = 0
        try:
            for step in steps(run, settings):
                limits = JudgeLimits(step, settings.nodes or usual_nodes(run))
                for done in walk.to(limits, crew):
                    now = Progress(done, len(run.lines), step)
                    crew.on_wait = partial(show, now)
                    show(now)
                last = step
        except TimeIsUp:
            return Judgement(run, tuple(walk.plies), last, False)
    return Judgement(run, tuple(walk.plies), last, True)


def endless(run: JudgedRun, settings: JudgeSettings) -> str | None:
    """Why the judge would not finish in days; None if it would, or nobody knows."""
    most = still_open(run.of, run.of.start())
    if settings.last is None or most is None or settings.seconds or settings.nodes:
        return None
    last, solvable = min(settings.last, most), most_solved(run.of)
    if last <= solvable:
        return None
    what = what_is_open(run.of)
    return (
        f"{run.of.name}: positions with {last} {what} cannot be solved, about {solvable} can: "
        "judge fewer, or say for how long, as in --seconds 60"
    )


def digest_of(run: JudgedRun, settings: JudgeSettings) -> str:
    """The name of a judgement: all that decides what it finds, but for the clock."""
    deciding = asdict(settings) | {"seconds": settings.seconds is not None}
    content = json.dumps([run.digest, code_digest(), deciding, AT_ONCE, TABLE_BITS])
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def steps(run: JudgedRun, settings: JudgeSettings) -> Iterator[int | None]:
    """How far back each step goes: one step, or as many as the time allows."""
    usual, most = usual_last(run.of), still_open(run.of, run.of.start())
    if most is None or usual is None:  # nobody knows what makes a position of this game hard
        yield None
        return
    first = usual if settings.last is None else settings.last
    if settings.seconds is None:
        yield first
        return
    end = most if settings.last is None else settings.last
    yield from range(min(usual, end), end, STEP)
    yield end


def usual_nodes(run: JudgedRun) -> int:
    """How many positions a question may take if nobody says."""
    sized = still_open(run.of, run.of.start()) is not None
    return USUAL_NODES if sized else UNSIZED_NODES


class Walk:
    """What is known of every line, step after step."""

    def __init__(self, run: JudgedRun, journal: Journal) -> None:
        """Nothing is known yet; the journal's batches count lines, on and on over the steps."""
        self.run, self.journal = run, journal
        self.lengths = [len(words) for words in run.words]
        self.plies: list[Plies] = [None] * len(run.lines)  # type: ignore[list-item]  # filled by the first step
        self.stored = {batch.start: batch for batch in journal.batches()}
        self.step = 0
        self.before: int | None = None  # how far back the step before went

    def to(self, limits: JudgeLimits, crew: JudgeCrew) -> Iterator[int]:
        """Judge every line so far back; yields how many are done."""
        total, base = len(self.run.lines), self.step * len(self.run.lines)
        done = 0
        while (batch := self.stored.get(base + done)) is not None:
            self.take(JudgedPortion(batch.start - base, batch.stop - base, batch.games))
            done = batch.stop - base
        yield done
        if done < total:
            if crew.judge is None:
                crew.get_ready()
            portions = (
                self.portion(at, min(at - at % AT_ONCE + AT_ONCE, total), limits)
                for at in starts(done, total)
            )
            with closing(self.results(crew, portions)) as results:
                for judged in results:
                    if judged.fault:
                        raise NotARun(f"{self.place(judged.start)}: {judged.fault}")
                    self.journal.append(base + judged.start, base + judged.stop, judged.plies)
                    self.take(judged)
                    yield judged.stop
        self.step, self.before = self.step + 1, limits.last

    def results(
        self, crew: JudgeCrew, portions: Iterator[Portion]
    ) -> Generator[JudgedPortion, None, None]:
        """What the crew finds out, in order; Unfinished names a game that cannot be judged."""
        try:
            yield from in_order(crew, in_turn(portions))
        except ItemFailed as failure:
            what = failure.trace.rpartition("\n")[2] or "ended its worker"
            raise Unfinished(f"{self.place(failure.item.start)}: {what}, and again alone") from None

    def place(self, line: int) -> str:
        """Where the first game of a line stands."""
        return f"{self.run.directory / GAMES}: game {int(np.argmax(self.run.line_of == line))}"

    def portion(self, start: int, stop: int, limits: JudgeLimits) -> Portion:
        """The lines `start` to `stop` - 1 with what is known of them."""
        known = [self.reached(at) for at in range(start, stop)]
        lines = [
            line if again else None
            for line, (again, _) in zip(self.run.lines[start:stop], known, strict=True)
        ]
        return Portion(start, stop, limits, tuple(lines), tuple(place for _, place in known))

    def reached(self, at: int) -> tuple[bool, Reached | None]:
        """Whether more can be found out of a line, and from where on it is known."""
        if self.before is None:
            return self.step == 0, None
        plies = self.plies[at]
        place = first_judged(plies)
        unknown = len(plies) if place is None else place.ply
        # A question that took too many positions takes as many again.
        return unknown > 0 and plies["left"][unknown - 1] > self.before, place

    def take(self, judged: JudgedPortion) -> None:
        """Put what was found out beside what was known."""
        found = unpacked(judged.plies, self._lengths(judged))
        for at, plies in zip(range(judged.start, judged.stop), found, strict=True):
            if len(plies) or not self.lengths[at]:
                self.plies[at] = merged(self.plies[at], plies, self.reached(at)[1])

    def _lengths(self, judged: JudgedPortion) -> list[int]:
        return [
            self.lengths[at] if self.step == 0 or self.reached(at)[0] else 0
            for at in range(judged.start, judged.stop)
        ]


def starts(done: int, total: int) -> Iterator[int]:
    """Where portions begin when `done` lines are done: at multiples, but for the first."""
    while done < total:
        yield done
        done = done - done % AT_ONCE + AT_ONCE


def merged(before: Plies | None, found: Plies, reached: Reached | None) -> Plies:
    """The plies found, and those that were known: from `reached` on."""
    if before is None or reached is None:
        return found
    whole = found.copy()
    whole[reached.ply :] = before[reached.ply :]
    return whole
