"""Judge a run by exact values, step by step farther back, resumable and independent of workers."""

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
from arena.planning.games import GameColumn, GameParts, Games, rechunk_games
from arena.planning.plan import Plan
from arena.planning.schedule import Schedule, make_schedule
from arena.playing.cluster.package import RemoteSite, WorkPackage, make_package
from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import PlayOptions
from arena.storage.journal import RunDirectory, Section
from arena.storage.provenance import code_digest, load_run_file
from arena.storage.run_file import GAMES, NotARunError
from games import Game, MoveError
from games.base.errors import UserError, print_error
from games.base.progress import Progress, ShowProgress, ignore_progress
from games.solving import SolverSettings, solver_of
from games.solving.move_losses import (
    PLY,
    UNSIZED_NODES,
    Judge,
    JudgeLimits,
    JudgeProgress,
    Losses,
    Plies,
    judge_of,
    judge_progress,
    losses_by_ply,
)
from games.solving.solution import default_judge_limit, max_solvable, remaining_units, unit_name
from games.solving.solver import Solver
from games.transcripts import game_lines

THREAD_TABLE_BITS = 20
LINES_PER_TASK = 16  # a solver clears its table between tasks
MAX_NODES = 20_000_000  # per question; a question that needs more stays open
NO_PLIES = np.empty(0, PLY)
TABLE_BITS = 21
STEP = 2  # beans or squares per further step


@dataclass(frozen=True, slots=True)
class JudgedMoves:
    """The moves that agents chose in games without repeats, as columns.

    `row` and `ply` (from 0) locate the move, `mover` is the agent and `opening` the opening of its
    game. Moves were judged from `last` beans in play or empty squares on; None if the game counts
    nothing.
    """

    last: int | None
    row: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opening: NDArray[np.int32]
    plies: Plies

    @property
    def columns(self) -> tuple[GameColumn, ...]:
        """Return the data of each move, column by column."""
        return self.row, self.ply, self.mover, self.opening, self.plies

    @property
    def losses(self) -> Losses:
        """Return the loss of each move."""
        return losses_by_ply(self.plies)


def judge_moves(
    plan: Plan,
    parts: GameParts,
    repeat: NDArray[np.bool_],
    starts: Sequence[Sequence[int]],
    last: int,
    progress: Callable[[str], None],
) -> JudgedMoves:
    """Judge the games of a run whose moves are stored; a `last` of 0 means the usual one.

    Games are read in pieces, and only the losses of their moves stay in memory.
    """
    game = plan.game
    usual = default_judge_limit(game)
    reach = None if usual is None else last or usual
    limits = JudgeLimits(reach, UNSIZED_NODES if usual is None else MAX_NODES)
    threads = SolverThreads(game, SolverSettings(THREAD_TABLE_BITS), progress)
    openings = np.array([len(start) for start in starts])
    at, found = 0, [_no_moves(reach)]
    for piece in rechunk_games(parts()):
        rows = np.flatnonzero(~repeat[at : at + len(piece)])
        found.append(_judge_games(game, piece, rows, at, openings, limits, threads))
        at += len(piece)
    columns = zip(*(each.columns for each in found), strict=True)
    return JudgedMoves(reach, *(np.concatenate(each) for each in columns))


def _no_moves(reach: int | None) -> JudgedMoves:
    kinds = (np.int64, np.int64, np.int16, np.int32, PLY)
    return JudgedMoves(reach, *(np.empty(0, kind) for kind in kinds))


def _judge_games(
    game: Game,
    games: Games,
    rows: NDArray[np.int64],
    first: int,
    openings: NDArray[np.int64],
    limits: JudgeLimits,
    threads: SolverThreads,
) -> JudgedMoves:
    """Judge the moves of some rows of these games, whose first row is `first` of the run."""
    assert games.moves is not None
    texts = game_lines(game, games.moves, games.plies)

    def work(solver: Solver, some: NDArray[np.int64]) -> list[Plies]:
        judge = judge_of(solver)
        return [judge.judge_game(texts[row], limits, None) for row in some]

    portions = [rows[at : at + LINES_PER_TASK] for at in range(0, len(rows), LINES_PER_TASK)]
    found = threads.run(work, portions, f"judging the moves in portions of {LINES_PER_TASK} games")
    plies = np.concatenate([np.empty(0, PLY), *(each for part in found for each in part)])
    row = np.repeat(rows, games.plies[rows])
    ply = np.arange(len(row)) - np.repeat(np.cumsum(games.plies[rows]), games.plies[rows])
    ply += games.plies[row]
    passes = is_forced_pass(games, rows, game.pass_move)
    kept = ~passes & (ply >= openings[games.opening[row]])
    seats = np.stack([games.first, games.second], axis=1)
    mover = seats[row, plies["player"]]
    row = row[kept]
    opening = games.opening[row]
    return JudgedMoves(limits.last, first + row, ply[kept], mover[kept], opening, plies[kept])


def is_forced_pass(
    games: Games, rows: NDArray[np.int64], pass_move: int | None
) -> NDArray[np.bool_]:
    """Return which moves of these games are forced passes."""
    assert games.moves is not None
    kept = np.zeros(len(games), np.bool_)
    kept[rows] = True
    moves = games.moves[np.repeat(kept, games.plies)]
    return np.asarray(moves == (-1 if pass_move is None else pass_move))


class JudgeTask(NamedTuple):
    """Lines `start` to `stop` - 1 of a run, and how far back each is judged already."""

    start: int
    stop: int
    limits: JudgeLimits
    lines: tuple[str | None, ...]  # None: nothing is left to judge
    judged_from: tuple[JudgeProgress | None, ...]


class JudgeTaskResult(NamedTuple):
    """The plies of all lines of a task, one line after the other."""

    start: int
    stop: int
    plies: bytes
    fault: str = ""  # why the line `start` is not a legal game


class RunJudge:
    """Judges tasks; each begins with an empty table, so that no task depends on another."""

    def __init__(
        self, game: Game, settings: SolverSettings, tell: Callable[[str], None] = print_error
    ) -> None:
        self.game, self.settings, self.tell = game, settings, tell
        self.solver: Solver | None = None
        self.lines: Judge | None = None

    def prepare(self) -> None:
        """Open or build the database, and compile."""
        if self.solver is None:
            self.solver = solver_of(self.game, self.settings, self.tell)
            self.solver.prepare()
            self.lines = judge_of(self.solver)
            self.lines.judge_game("", JudgeLimits(0, 1), None)

    def judge(self, task: JudgeTask) -> JudgeTaskResult:
        """Return the plies of the task's lines."""
        assert self.solver is not None
        # Earlier tasks must not influence results or node counts.
        self.solver.clear()
        plies: list[Plies] = []
        for line, reached in zip(task.lines, task.judged_from, strict=True):
            try:
                plies.append(self._judge_line(line, task.limits, reached))
            except MoveError as error:
                at = task.start + len(plies)
                return JudgeTaskResult(at, at, b"", str(error))
        return JudgeTaskResult(task.start, task.stop, pack_plies(plies))

    def _judge_line(
        self, line: str | None, limits: JudgeLimits, reached: JudgeProgress | None
    ) -> Plies:
        assert self.lines is not None
        return NO_PLIES if line is None else self.lines.judge_game(line, limits, reached)


def judge_job(judge: RunJudge, drawn: Schedule | None = None) -> Job[JudgeTask, JudgeTaskResult]:
    """Return the job that judges lines of a run; a cluster learns the game from `drawn`."""

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
    _: RemoteSite, plans: tuple[Schedule, ...], settings: SolverSettings
) -> Job[JudgeTask, JudgeTaskResult]:
    """Return the job for another machine."""
    return judge_job(RunJudge(plans[0].game, settings))


def split_task(task: JudgeTask) -> list[JudgeTask]:
    """Return a task for each line."""
    return [
        task._replace(start=at, stop=at + 1, lines=(line,), judged_from=(reached,))
        for at, line, reached in zip(
            range(task.start, task.stop), task.lines, task.judged_from, strict=True
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
    """Return the plies of several lines as bytes."""
    return zlib.compress(np.concatenate([NO_PLIES, *plies]).tobytes())


def unpack_plies(stored: bytes, lengths: Sequence[int]) -> list[Plies]:
    """Return the plies of lines of these lengths."""
    whole = np.frombuffer(zlib.decompress(stored), PLY)
    return np.split(whole, np.cumsum(lengths)[:-1])


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How far to judge: from `last` beans or squares on, and then back for some `seconds`."""

    last: int | None = None  # None: as many as take a few seconds
    seconds: float | None = None
    nodes: int | None = None  # per question; None: the default of the game's kind
    database_beans: int | None = None


class TimeLimitReached(Exception):  # noqa: N818  # what happened, not an error
    """The requested seconds are over."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """The judged plies of every line of a run, and how far back the last complete step went."""

    run: RunLines
    plies: tuple[Plies, ...]
    last: int | None  # None: to the start, or as far as `nodes` allow
    complete: bool  # False if the clock ended a step


def judge_run(
    run: RunLines,
    settings: JudgeSettings,
    options: PlayOptions,
    show: ShowProgress = ignore_progress,
    tell: Callable[[str], None] = print_error,
) -> JudgeResult:
    """Judge the lines that the journal does not have; the journal stores every portion."""
    if problem := endless_reason(run, settings):
        raise UserError(problem)
    name = judge_digest(run, settings)
    end = None if settings.seconds is None else time.monotonic() + settings.seconds
    sized = remaining_units(run.game, run.game.start()) is not None
    usual_nodes = JudgeLimits().nodes if sized else UNSIZED_NODES
    judge = RunJudge(run.game, SolverSettings(TABLE_BITS, settings.database_beans), tell)
    drawn = None if options.cluster is None else make_schedule(run.plan)
    digest = str(load_run_file(run.directory).get("digest") or run.digest)
    with RunDirectory(run.directory, digest, None) as directory:
        walk = LineProgress(run, directory.section("judgement", name))
        last: int | None = 0
        now = run_progress(run, 0, last)

        def poll() -> None:
            if end is not None and time.monotonic() > end:
                raise TimeLimitReached
            show(now)

        job = replace(
            judge_job(judge, drawn), poll=poll, describe=lambda task: walk.place_text(task.start)
        )
        try:
            for step in judge_steps(run, settings):
                limits = JudgeLimits(step, settings.nodes or usual_nodes)
                for done in walk.judge_step(limits, job, options):
                    now = run_progress(run, done, step)
                    show(now)
                last = step
        except TimeLimitReached:
            return JudgeResult(run, tuple(walk.plies), last, False)
    return JudgeResult(run, tuple(walk.plies), last, True)


def run_progress(run: RunLines, done: int, last: int | None) -> Progress:
    """Return how many lines of a step are judged, and how far back the step goes."""
    back = "" if last is None else f", back to {last} {unit_name(run.game)}"
    text = f"{done:,} of {len(run.lines):,} games judged{back}"
    return Progress(text, done, len(run.lines))


def endless_reason(run: RunLines, settings: JudgeSettings) -> str | None:
    """Return why judging would take days; None if it would not, or if that is unknown."""
    most = remaining_units(run.game, run.game.start())
    if settings.last is None or most is None or settings.seconds or settings.nodes:
        return None
    last, solvable = min(settings.last, most), max_solvable(run.game)
    if last <= solvable:
        return None
    what = unit_name(run.game)
    return (
        f"{run.game.name}: positions with {last} {what} cannot be solved, about {solvable} can: "
        "judge fewer, or say for how long, as in --seconds 60"
    )


def judge_digest(run: RunLines, settings: JudgeSettings) -> str:
    """Return the name of a judgement, from everything that decides its result except the clock."""
    deciding = asdict(settings) | {"seconds": settings.seconds is not None}
    content = json.dumps([run.digest, code_digest(), deciding, LINES_PER_TASK, TABLE_BITS])
    return hashlib.blake2b(content.encode(), digest_size=5).hexdigest()


def judge_steps(run: RunLines, settings: JudgeSettings) -> Iterator[int | None]:
    """Yield how far back each step goes: one step, or as many as the time allows."""
    usual, most = default_judge_limit(run.game), remaining_units(run.game, run.game.start())
    if most is None or usual is None:  # the game has no measure of difficulty
        yield None
        return
    first = usual if settings.last is None else settings.last
    if settings.seconds is None:
        yield first
        return
    end = most if settings.last is None else settings.last
    yield from range(min(usual, end), end, STEP)
    yield end


class LineProgress:
    """The judged plies of every line, step after step."""

    def __init__(self, run: RunLines, section: Section) -> None:
        """Create it without plies; the section's batches count lines on and on over the steps."""
        self.run, self.section = run, section
        self.lengths = [len(words) for words in run.move_texts]
        self.plies: list[Plies] = [None] * len(run.lines)  # type: ignore[list-item]  # filled by the first step
        self.stored = {batch.start: batch for batch in section.batches()}
        self.step = 0
        self.last_step: int | None = None  # how far back the previous step went

    def judge_step(
        self,
        limits: JudgeLimits,
        job: Job[JudgeTask, JudgeTaskResult],
        options: PlayOptions,
    ) -> Iterator[int]:
        """Judge every line this far back; yield the number of finished lines."""
        total, base = len(self.run.lines), self.step * len(self.run.lines)
        done = 0
        while (batch := self.stored.get(base + done)) is not None:
            self.add_result(JudgeTaskResult(batch.start - base, batch.stop - base, batch.content))
            done = batch.stop - base
        yield done
        if done < total:
            portions = (
                self.make_task(at, min(at - at % LINES_PER_TASK + LINES_PER_TASK, total), limits)
                for at in portion_starts(done, total)
            )
            with closing(run_in_order(job, iterate_items(portions), options)) as results:
                for judged in results:
                    if judged.fault:
                        raise NotARunError(f"{self.place_text(judged.start)}: {judged.fault}")
                    self.section.append(base + judged.start, base + judged.stop, judged.plies)
                    self.add_result(judged)
                    yield judged.stop
        self.step, self.last_step = self.step + 1, limits.last

    def place_text(self, line: int) -> str:
        """Return the location of the first game with this line."""
        return f"{self.run.directory / GAMES}: game {int(np.argmax(self.run.line_of == line))}"

    def make_task(self, start: int, stop: int, limits: JudgeLimits) -> JudgeTask:
        """Return the task of the lines `start` to `stop` - 1."""
        known = [self.state_of(at) for at in range(start, stop)]
        lines = [
            line if again else None
            for line, (again, _) in zip(self.run.lines[start:stop], known, strict=True)
        ]
        return JudgeTask(start, stop, limits, tuple(lines), tuple(place for _, place in known))

    def state_of(self, at: int) -> tuple[bool, JudgeProgress | None]:
        """Return whether more of a line can be judged, and from which ply on it is judged."""
        if self.last_step is None:
            return self.step == 0, None
        plies = self.plies[at]
        place = judge_progress(plies)
        unknown = len(plies) if place is None else place.ply
        # A question that exceeded its nodes would exceed them again.
        return unknown > 0 and plies["left"][unknown - 1] > self.last_step, place

    def add_result(self, judged: JudgeTaskResult) -> None:
        """Merge new plies into the judged ones."""
        found = unpack_plies(judged.plies, self._lengths(judged))
        for at, plies in zip(range(judged.start, judged.stop), found, strict=True):
            if len(plies) or not self.lengths[at]:
                progress, merged = self.state_of(at)[1], plies.copy()
                if progress is not None:
                    merged[progress.ply :] = self.plies[at][progress.ply :]
                self.plies[at] = merged

    def _lengths(self, judged: JudgeTaskResult) -> list[int]:
        return [
            self.lengths[at] if self.step == 0 or self.state_of(at)[0] else 0
            for at in range(judged.start, judged.stop)
        ]


def portion_starts(done: int, total: int) -> Iterator[int]:
    """Yield the starts of portions after `done` lines: multiples, except for the first."""
    while done < total:
        yield done
        done = done - done % LINES_PER_TASK + LINES_PER_TASK
