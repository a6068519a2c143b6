"""A run judged: step by step farther back, kept in a journal, the same for any workers."""

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.checks.winnable import SolverThreads
from arena.analysis.move_losses.run_lines import RunLines
from arena.planning.games import GameColumn, GameParts, Games, pieces
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.playing.cluster.package import RemoteSite, WorkPackage, make_package
from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import PlayOptions
from arena.storage.journal import RunDirectory, Section
from arena.storage.provenance import code_digest, read_run
from arena.storage.run_file import GAMES, NotARunError
from games import Game, MoveError
from games.base.errors import UserError, print_error
from games.base.progress import Progress, ShowProgress, ignore_progress
from games.solving import SolverSettings, solver_of
from games.solving.move_losses import (
    PLY,
    UNSIZED_NODES,
    JudgeLimits,
    LineJudge,
    Losses,
    Plies,
    Reached,
    first_judged,
    judge_of,
    losses_of,
)
from games.solving.solution import most_solved, still_open, usual_last, what_is_open
from games.solving.solver import Solver
from games.transcripts import game_lines

THREAD_TABLE_BITS = 20
AT_ONCE = 16  # games between which a solver forgets
MOST_NODES = 20_000_000  # of a question; those that take more are left open
NO_PLIES = np.empty(0, PLY)
TABLE_BITS = 21
STEP = 2  # beans or squares that each further step goes back
# Positions that a question may take; where nobody knows what makes it hard, every game comes to it.
USUAL_NODES = JudgeLimits().nodes


@dataclass(frozen=True, slots=True)
class JudgedMoves:
    """The moves that agents chose in games that are not repeats, as columns.

    `row` and `ply` (from 0) say where each stands, `mover` whose it is, `opening` where its game
    began; `last` is from how many beans in play, or empty squares, on they were judged, None
    if nobody can say.
    """

    last: int | None
    row: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opening: NDArray[np.int32]
    plies: Plies

    @property
    def columns(self) -> tuple[GameColumn, ...]:
        """What is known of each move, column by column."""
        return self.row, self.ply, self.mover, self.opening, self.plies

    @property
    def losses(self) -> Losses:
        """The loss of each move."""
        return losses_of(self.plies)


def judge_moves(
    plan: Plan,
    parts: GameParts,
    repeat: NDArray[np.bool_],
    starts: Sequence[Sequence[int]],
    last: int,
    progress: Callable[[str], None],
) -> JudgedMoves:
    """Judge the games of a run whose moves are kept; a `last` of 0 means the usual one.

    Games are read some at a time: what stays of each is the loss of its moves.
    """
    of = plan.of
    usual = usual_last(of)
    reach = None if usual is None else last or usual
    limits = JudgeLimits(reach, UNSIZED_NODES if usual is None else MOST_NODES)
    threads = SolverThreads(of, SolverSettings(THREAD_TABLE_BITS), progress)
    openings = np.array([len(start) for start in starts])
    at, found = 0, [_none(reach)]
    for piece in pieces(parts()):
        rows = np.flatnonzero(~repeat[at : at + len(piece)])
        found.append(_judged(of, piece, rows, at, openings, limits, threads))
        at += len(piece)
    columns = zip(*(each.columns for each in found), strict=True)
    return JudgedMoves(reach, *(np.concatenate(each) for each in columns))


def _none(reach: int | None) -> JudgedMoves:
    """No moves at all."""
    kinds = (np.int64, np.int64, np.int16, np.int32, PLY)
    return JudgedMoves(reach, *(np.empty(0, kind) for kind in kinds))


def _judged(
    of: Game,
    games: Games,
    rows: NDArray[np.int64],
    first: int,
    openings: NDArray[np.int64],
    limits: JudgeLimits,
    threads: SolverThreads,
) -> JudgedMoves:
    """The moves of some rows of these games, the first of which stands in row `first` of all."""
    assert games.moves is not None
    texts = game_lines(of, games.moves, games.plies)

    def work(solver: Solver, some: NDArray[np.int64]) -> list[Plies]:
        judge = judge_of(solver)
        return [judge.judged(texts[row], limits, None) for row in some]

    portions = [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]
    found = threads.results(work, portions, f"judging the moves in portions of {AT_ONCE} games")
    plies = np.concatenate([np.empty(0, PLY), *(each for part in found for each in part)])
    row = np.repeat(rows, games.plies[rows])
    ply = np.arange(len(row)) - np.repeat(np.cumsum(games.plies[rows]), games.plies[rows])
    ply += games.plies[row]
    passes = chosen_passes(games, rows, of.pass_move)
    kept = ~passes & (ply >= openings[games.opening[row]])
    seats = np.stack([games.first, games.second], axis=1)
    mover = seats[row, plies["player"]]
    row = row[kept]
    opening = games.opening[row]
    return JudgedMoves(limits.last, first + row, ply[kept], mover[kept], opening, plies[kept])


def chosen_passes(
    games: Games, rows: NDArray[np.int64], pass_move: int | None
) -> NDArray[np.bool_]:
    """Which moves of these games are forced passes."""
    assert games.moves is not None
    kept = np.zeros(len(games), np.bool_)
    kept[rows] = True
    moves = games.moves[np.repeat(kept, games.plies)]
    return np.asarray(moves == (-1 if pass_move is None else pass_move))


class JudgeTask(NamedTuple):
    """Lines `start` to `stop` - 1 of a run to be judged, and how far back each is known."""

    start: int
    stop: int
    limits: JudgeLimits
    lines: tuple[str | None, ...]  # None: nothing is left to find out
    reached: tuple[Reached | None, ...]


class JudgeTaskResult(NamedTuple):
    """What was found out: the plies of all lines, one after the other."""

    start: int
    stop: int
    plies: bytes
    fault: str = ""  # why the first line, which begins at `start`, is no game of these rules


class Judge:
    """Judges tasks; each begins with an empty table, so that no task needs another."""

    def __init__(
        self, of: Game, settings: SolverSettings, tell: Callable[[str], None] = print_error
    ) -> None:
        self.of, self.settings, self.tell = of, settings, tell
        self.solver: Solver | None = None
        self.lines: LineJudge | None = None

    def prepare(self) -> None:
        """Open or build the database, and compile."""
        if self.solver is None:
            self.solver = solver_of(self.of, self.settings, self.tell)
            self.solver.prepare()
            self.lines = judge_of(self.solver)
            self.lines.judged("", JudgeLimits(0, 1), None)

    def judge(self, task: JudgeTask) -> JudgeTaskResult:
        """Return the plies of the task's lines."""
        assert self.solver is not None
        # Nothing found before may decide what is found now, or at which node a question ends.
        self.solver.forget()
        plies: list[Plies] = []
        for line, reached in zip(task.lines, task.reached, strict=True):
            try:
                plies.append(self._judge_line(line, task.limits, reached))
            except MoveError as error:
                at = task.start + len(plies)
                return JudgeTaskResult(at, at, b"", str(error))
        return JudgeTaskResult(task.start, task.stop, pack_plies(plies))

    def _judge_line(self, line: str | None, limits: JudgeLimits, reached: Reached | None) -> Plies:
        assert self.lines is not None
        return NO_PLIES if line is None else self.lines.judged(line, limits, reached)


def judge_job(judge: Judge, drawn: DrawnPlan | None = None) -> Job[JudgeTask, JudgeTaskResult]:
    """Judge lines of a run; a cluster learns the game from `drawn`."""

    def package() -> WorkPackage:
        assert drawn is not None
        maker = "arena.analysis.move_losses.judge:remote_judge_job"
        return make_package(maker, (drawn,), judge.settings)

    return Job(
        judge.judge,
        prepare=judge.prepare,
        split=split_task,
        merge=merge_results,
        package=package,
    )


def remote_judge_job(
    _: RemoteSite, plans: tuple[DrawnPlan, ...], settings: SolverSettings
) -> Job[JudgeTask, JudgeTaskResult]:
    """Judge lines for another machine."""
    return judge_job(Judge(plans[0].of, settings))


def split_task(task: JudgeTask) -> list[JudgeTask]:
    """Return a task for each line."""
    return [
        task._replace(start=at, stop=at + 1, lines=(line,), reached=(reached,))
        for at, line, reached in zip(
            range(task.start, task.stop), task.lines, task.reached, strict=True
        )
    ]


def merge_results(task: JudgeTask, parts: list[JudgeTaskResult]) -> JudgeTaskResult | None:
    """Return the result of a task from those of its lines; None while some are missing."""
    if parts[-1].fault:
        return parts[-1]
    if parts[-1].stop < task.stop:
        return None
    joined = b"".join(zlib.decompress(part.plies) for part in parts)
    return JudgeTaskResult(task.start, task.stop, zlib.compress(joined))


def pack_plies(plies: Sequence[Plies]) -> bytes:
    """The plies of several lines as bytes."""
    return zlib.compress(np.concatenate([NO_PLIES, *plies]).tobytes())


def unpack_plies(stored: bytes, lengths: Sequence[int]) -> list[Plies]:
    """The plies of lines of these lengths."""
    whole = np.frombuffer(zlib.decompress(stored), PLY)
    return np.split(whole, np.cumsum(lengths)[:-1])


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What is judged: `last` beans or squares, of all games; then on for as many `seconds`."""

    last: int | None = None  # None: as many as are judged in a few seconds
    seconds: float | None = None
    nodes: int | None = None  # of one question; None: what the game's kind has by default
    database_beans: int | None = None


class TimeLimitReached(Exception):  # noqa: N818  # what happened, not an error
    """The seconds that were asked for are over."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What is known of every line of a run, and how far back the last whole step went."""

    run: RunLines
    plies: tuple[Plies, ...]
    last: int | None  # None: to the start, or as far as the positions of a question allow
    complete: bool  # whether no step was cut short by the clock


def judge_run(
    run: RunLines,
    settings: JudgeSettings,
    options: PlayOptions,
    show: ShowProgress = ignore_progress,
    tell: Callable[[str], None] = print_error,
) -> JudgeResult:
    """Judge what the journal does not have; the journal keeps every portion."""
    if problem := endless(run, settings):
        raise UserError(problem)
    name = judge_digest(run, settings)
    end = None if settings.seconds is None else time.monotonic() + settings.seconds
    judge = Judge(run.of, SolverSettings(TABLE_BITS, settings.database_beans), tell)
    drawn = None if options.cluster is None else make_schedule(run.plan)
    digest = str(read_run(run.directory).get("digest") or run.digest)
    with RunDirectory(run.directory, digest, None) as directory:
        walk = Walk(run, directory.section("judgement", name))
        last: int | None = 0
        now = judge_progress(run, 0, last)

        def poll() -> None:
            if end is not None and time.monotonic() > end:
                raise TimeLimitReached
            show(now)

        job = replace(
            judge_job(judge, drawn), poll=poll, describe=lambda task: walk.place(task.start)
        )
        try:
            for step in steps(run, settings):
                limits = JudgeLimits(step, settings.nodes or default_nodes(run))
                for done in walk.to(limits, job, options):
                    now = judge_progress(run, done, step)
                    show(now)
                last = step
        except TimeLimitReached:
            return JudgeResult(run, tuple(walk.plies), last, False)
    return JudgeResult(run, tuple(walk.plies), last, True)


def judge_progress(run: RunLines, done: int, last: int | None) -> Progress:
    """Return how many lines of a step are judged, and how far back the step goes."""
    back = "" if last is None else f", back to {last} {what_is_open(run.of)}"
    text = f"{done:,} of {len(run.lines):,} games judged{back}"
    return Progress(text, done, len(run.lines))


def endless(run: RunLines, settings: JudgeSettings) -> str | None:
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


def judge_digest(run: RunLines, settings: JudgeSettings) -> str:
    """The name of a judgement: all that decides what it finds, but for the clock."""
    deciding = asdict(settings) | {"seconds": settings.seconds is not None}
    content = json.dumps([run.digest, code_digest(), deciding, AT_ONCE, TABLE_BITS])
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def steps(run: RunLines, settings: JudgeSettings) -> Iterator[int | None]:
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


def default_nodes(run: RunLines) -> int:
    """How many positions a question may take if nobody says."""
    sized = still_open(run.of, run.of.start()) is not None
    return USUAL_NODES if sized else UNSIZED_NODES


class Walk:
    """What is known of every line, step after step."""

    def __init__(self, run: RunLines, section: Section) -> None:
        """Nothing is known yet; the section's batches count lines, on and on over the steps."""
        self.run, self.section = run, section
        self.lengths = [len(words) for words in run.words]
        self.plies: list[Plies] = [None] * len(run.lines)  # type: ignore[list-item]  # filled by the first step
        self.stored = {batch.start: batch for batch in section.batches()}
        self.step = 0
        self.before: int | None = None  # how far back the step before went

    def to(
        self,
        limits: JudgeLimits,
        job: Job[JudgeTask, JudgeTaskResult],
        options: PlayOptions,
    ) -> Iterator[int]:
        """Judge every line so far back; yields how many are done."""
        total, base = len(self.run.lines), self.step * len(self.run.lines)
        done = 0
        while (batch := self.stored.get(base + done)) is not None:
            self.take(JudgeTaskResult(batch.start - base, batch.stop - base, batch.content))
            done = batch.stop - base
        yield done
        if done < total:
            portions = (
                self.portion(at, min(at - at % AT_ONCE + AT_ONCE, total), limits)
                for at in starts(done, total)
            )
            with closing(run_in_order(job, iterate_items(portions), options)) as results:
                for judged in results:
                    if judged.fault:
                        raise NotARunError(f"{self.place(judged.start)}: {judged.fault}")
                    self.section.append(base + judged.start, base + judged.stop, judged.plies)
                    self.take(judged)
                    yield judged.stop
        self.step, self.before = self.step + 1, limits.last

    def place(self, line: int) -> str:
        """Where the first game of a line stands."""
        return f"{self.run.directory / GAMES}: game {int(np.argmax(self.run.line_of == line))}"

    def portion(self, start: int, stop: int, limits: JudgeLimits) -> JudgeTask:
        """The lines `start` to `stop` - 1 with what is known of them."""
        known = [self.reached(at) for at in range(start, stop)]
        lines = [
            line if again else None
            for line, (again, _) in zip(self.run.lines[start:stop], known, strict=True)
        ]
        return JudgeTask(start, stop, limits, tuple(lines), tuple(place for _, place in known))

    def reached(self, at: int) -> tuple[bool, Reached | None]:
        """Whether more can be found out of a line, and from where on it is known."""
        if self.before is None:
            return self.step == 0, None
        plies = self.plies[at]
        place = first_judged(plies)
        unknown = len(plies) if place is None else place.ply
        # A question that took too many positions takes as many again.
        return unknown > 0 and plies["left"][unknown - 1] > self.before, place

    def take(self, judged: JudgeTaskResult) -> None:
        """Put what was found out beside what was known."""
        found = unpack_plies(judged.plies, self._lengths(judged))
        for at, plies in zip(range(judged.start, judged.stop), found, strict=True):
            if len(plies) or not self.lengths[at]:
                self.plies[at] = merge_plies(self.plies[at], plies, self.reached(at)[1])

    def _lengths(self, judged: JudgeTaskResult) -> list[int]:
        return [
            self.lengths[at] if self.step == 0 or self.reached(at)[0] else 0
            for at in range(judged.start, judged.stop)
        ]


def starts(done: int, total: int) -> Iterator[int]:
    """Where portions begin when `done` lines are done: at multiples, but for the first."""
    while done < total:
        yield done
        done = done - done % AT_ONCE + AT_ONCE


def merge_plies(before: Plies | None, found: Plies, reached: Reached | None) -> Plies:
    """The plies found, and those that were known: from `reached` on."""
    if before is None or reached is None:
        return found
    whole = found.copy()
    whole[reached.ply :] = before[reached.ply :]
    return whole
