"""Benchmarks of exact play: solving kalah(6,4), its database and openings, judging a run."""

import functools
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.analysis.move_losses.judge import JudgeSettings, judge_run
from arena.analysis.move_losses.run_lines import load_run_lines
from arena.config.experiment import load_experiment
from arena.config.run_options import RunOptions
from arena.pipeline.run import run_experiment
from arena.planning.openings.openings import opening_moves, position_after
from arena.planning.openings.random import random_openings
from arena.playing.options import Interrupts, PlayOptions
from benchmarks.c_program import compiled_program, compiler
from benchmarks.endgame_rows import EMPTIES, positions, solve, solver
from benchmarks.table import Row, skipped_row
from games import Position, game
from games.solving import Budget, Solver, SolverSettings, solver_of
from games.solving.solver import Allowance
from games.solving.sowing import SowingSearch
from games.solving.sowing_database import build_values, position_count

KALAH = "kalah(6,4)"
BEANS, TABLE_BITS, THREADS = 18, 24, 2
OPENING_BITS = 22  # the users' default; clearing a larger table would dominate the median
OPENINGS, PLIES, SEED = 200, 6, 2026
MOST_NODES, NO_LIMIT = 10_000_000, 1 << 62  # the limit exceeds the median of the openings
RESULT_SECONDS, MARGIN_SECONDS = 0.06, 1.0  # medians of the prototype in C, on its machine
EXPERIMENT = Path("experiments/smart_vs_bad.toml")


class CResults(NamedTuple):
    """The times of the C program: for its database, and for each position."""

    database: float
    solved: list[tuple[int, int, float, float]]  # value, nodes, seconds, seconds to the result


def solve_in_c(
    program: Path,
    threads: int,
    starts: list[Position],
    nodes: int = NO_LIMIT,
    bits: int = TABLE_BITS,
) -> CResults:
    """Run the C program with a database of 18 beans and at most `nodes` nodes per position."""
    words = [str(program), *map(str, (BEANS, threads, bits, nodes))]
    lines = "\n".join(f"{int(at.state.own)} {int(at.state.other)}" for at in starts)
    done = subprocess.run(
        words, input=lines, capture_output=True, text=True, check=True, timeout=3600
    )
    first, *rows = done.stdout.splitlines()
    found = [row.split() for row in rows]
    return CResults(float(first), [(int(v), int(n), float(s), float(r)) for v, n, s, r in found])


@contextmanager
def program() -> Iterator[Path]:
    """Yield the compiled solver in C."""
    with compiled_program("solve_kalah.c") as made:
        yield made


def prepare_solver(bits: int = TABLE_BITS) -> Solver:
    """Return our compiled solver with its database, which is built if it is missing."""
    made = solver_of(game(KALAH), SolverSettings(bits, BEANS))
    made.prepare()
    return made


def database_seconds() -> float:
    """Return the seconds to build the database with all processors."""
    search = prepare_solver().search
    assert isinstance(search, SowingSearch)
    begun = time.perf_counter()
    build_values(search.context, game(KALAH).rules.holes, BEANS, position_count(6, BEANS))
    return time.perf_counter() - begun


def start_seconds() -> tuple[int, int, float]:
    """Solve the start with the database and an empty table: margin, nodes, processor seconds."""
    made = prepare_solver()
    before, begun = made.nodes, time.process_time()
    bounds = made.margin(game(KALAH).start())
    return bounds.low, made.nodes - before, time.process_time() - begun


def solve_start(_: int) -> Row:
    """Compare solving kalah(6,4) from nothing, database included, with C on one thread."""
    what = "kalah(6,4) solved from nothing: C, one thread"
    if compiler() is None:
        return skipped_row(what, "no C compiler", 0.8)
    with program() as made:
        theirs = solve_in_c(made, 1, [game(KALAH).start()])
    database = database_seconds()
    margin, nodes, seconds = start_seconds()
    ours, against = database + seconds, theirs.database + theirs.solved[0][2]
    text = f"{margin:+d}, {ours:.1f} s ({nodes / 1e6:.1f} M nodes)"
    return Row(what, text, f"{against:.1f} s ({theirs.solved[0][1] / 1e6:.1f} M nodes)",
               against / ours, 0.8)  # fmt: skip


def solve_start_again(rounds: int) -> Row:
    """Measure solving kalah(6,4) with an existing database."""
    found = [start_seconds() for _ in range(min(rounds, 2))]
    margin, nodes, seconds = min(found, key=lambda each: each[2])
    text = f"{margin:+d}, {seconds:.1f} s ({nodes / 1e6:.1f} M nodes)"
    return Row("kalah(6,4) solved, database of 18 beans there", text, "10 s", 10.0 / seconds, 1.0)


def solve_database(_: int) -> Row:
    """Compare building the database of 18 beans with C on two threads."""
    what = "database of 18 beans: C, two threads"
    if compiler() is None:
        return skipped_row(what, "no C compiler", 0.7)
    with program() as made:
        theirs = solve_in_c(made, THREADS, []).database
    ours = database_seconds()
    return Row(what, f"{ours:.1f} s", f"{theirs:.1f} s", theirs / ours, 0.7)


def solve_openings(_: int) -> Row:
    """Compare median times after six random plies with those of the prototype."""
    results, margins = our_medians()
    ratio = min(RESULT_SECONDS / results, MARGIN_SECONDS / margins)
    what = f"{OPENINGS} openings of six random plies, median to result, to margin: promised"
    return Row(
        what, median_text(results, margins), median_text(RESULT_SECONDS, MARGIN_SECONDS), ratio, 0.8
    )


def solve_openings_in_c(_: int) -> Row:
    """Compare the same median times with the C program on this machine."""
    what = f"{OPENINGS} openings of six random plies, median to result, to margin: C"
    if compiler() is None:
        return skipped_row(what, "no C compiler", 0.8)
    results, margins = our_medians()
    with program() as made:
        found = solve_in_c(made, THREADS, openings(), MOST_NODES, OPENING_BITS).solved
    to_result, to_margin = medians([(result, seconds) for *_, seconds, result in found])
    ratio = min(to_result / results, to_margin / margins)
    return Row(what, median_text(results, margins), median_text(to_result, to_margin), ratio, 0.8)


def median_text(results: float, margins: float) -> str:
    """Return both medians as the text of a cell."""
    return f"{results:.3f} s, {margins:.2f} s"


@functools.cache
def our_medians() -> tuple[float, float]:
    """Return the medians of our solver, cached because two rows need them."""
    return medians([solve_seconds(position) for position in openings()])


def openings() -> list[Position]:
    """Return the positions at the end of the openings."""
    of = game(KALAH)
    drawn = random_openings(of, PLIES, OPENINGS, SEED, None)
    return [position_after(of, opening_moves(of, slots)) for slots in drawn.slots[:OPENINGS]]


@functools.cache
def opening_solver() -> Solver:
    """Return one solver for all openings."""
    return prepare_solver(OPENING_BITS)


def solve_seconds(position: Position) -> tuple[float, float]:
    """Return the processor seconds to the result and to the margin, from an empty table."""
    made, allowance = opening_solver(), Allowance(Budget(nodes=MOST_NODES))
    made.clear()
    begun = time.process_time()
    made.outcome(position, allowance)
    result = time.process_time() - begun
    made.margin(position, allowance)
    return result, time.process_time() - begun


def medians(seconds: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the medians of both columns."""
    first, second = (statistics.median(column) for column in zip(*seconds, strict=True))
    return first, second


def judge_games(_: int) -> Row:
    """Measure judging the 2,000 games of the shipped example to 32 beans with a database."""
    prepare_solver()
    with tempfile.TemporaryDirectory() as directory:
        results, interrupts = Path(directory), Interrupts()
        run_experiment(
            load_experiment(EXPERIMENT), RunOptions(results, THREADS, interrupts, quiet=True)
        )
        (path,) = (results / EXPERIMENT.stem).iterdir()
        begun = time.perf_counter()
        judge_run(load_run_lines(path), JudgeSettings(last=32), PlayOptions(THREADS, interrupts))
        seconds = time.perf_counter() - begun
    return Row("2,000 games judged to 32 beans, two workers", f"{seconds:.1f} s", "5 s",
               5.0 / seconds, 1.0)  # fmt: skip


def solver_endgames(_: int) -> Row:
    """Compare the solver with the exact endgame of alpha-beta on the FFO endgames."""
    suite = [entry for entry in positions() if entry["empties"] in EMPTIES]
    of, agent = game("othello"), solver()
    made = solver_of(of, SolverSettings(19))
    made.prepare()
    solve(agent, suite[0])
    nodes, seconds, before = 0, 0.0, [0, 0.0]
    for entry in suite:
        theirs = solve(agent, entry)
        before = [before[0] + theirs.nodes, before[1] + theirs.seconds]
        made.clear()
        at, begun = made.nodes, time.process_time()
        bounds = made.margin(of.parse(f"{entry['board']} {entry['stm']}"))
        seconds += time.process_time() - begun
        nodes += made.nodes - at
        assert bounds.exact
        assert bounds.low == entry["score"]
    ours = f"{nodes / 1e6:.1f} M nodes, {seconds:.2f} s"
    against = f"{before[0] / 1e6:.1f} M nodes, {before[1]:.2f} s"
    what = f"{len(suite)} FFO endgames by the solver: by alpha-beta"
    return Row(what, ours, against, before[1] / seconds, 1 / 0.95)
