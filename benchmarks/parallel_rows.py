"""Benchmarks of random games on two cores against one, with threads and with processes."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.table import Row, per_second, skipped_row
from benchmarks.timing import best_of, timed_job
from games import game
from games.perft import PlayoutCounts, play_random_games

NAME = "kalah(6,4)"
GAMES = 400_000
SEED = 1
TARGET = 1.8


def two_threads(rounds: int) -> Row:
    """Compare two threads with one; kernels release the interpreter lock."""
    return two_workers("threads", lambda: ThreadPoolExecutor(2), GAMES, rounds)


def two_processes(rounds: int) -> Row:
    """Compare two processes with one; they start before the measurement."""
    return two_workers(
        "processes", lambda: ProcessPoolExecutor(2, get_context("spawn")), GAMES, rounds
    )


def two_workers(kind: str, pool: Callable[[], Executor], games: int, rounds: int) -> Row:
    """Compare two workers on half of the games each with one, after checking the counts."""
    what = f"random games, {NAME}, two {kind}: one"
    if (os.cpu_count() or 1) < 2:
        return skipped_row(what, "one core", TARGET)
    idle = idle_cores()
    with pool() as workers:
        alone, together = tally(games, 0), halves(workers, games)
        if alone != together:
            raise ValueError(f"{what}: one worker gives {alone}, two give {together}")
        ours, against = best_of(
            rounds, timed_job(lambda: halves(workers, games)), timed_job(lambda: tally(games, 0))
        )
    one = f"{per_second(games / against)}{idle}"
    return Row(what, per_second(games / ours), one, against / ours, TARGET)


def idle_cores(seconds: float = 0.5) -> str:
    """Return the number of idle cores as text, or nothing if the system does not report it."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return ""
    before = idle_seconds(stat)
    time.sleep(seconds)
    return f", {(idle_seconds(stat) - before) / seconds:.1f} cores idle"


def idle_seconds(stat: Path) -> float:
    """Return the idle seconds of all cores together since the machine started."""
    ticks = stat.read_text().split(maxsplit=5)[4]  # "cpu user nice system idle ..."
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def tally(games: int, first: int) -> PlayoutCounts:
    """Return the results of `games` games from number `first` on."""
    return play_random_games(game(NAME), games, SEED, first)


def halves(workers: Executor, games: int) -> PlayoutCounts:
    """Return the results of the same games, played in two parts in parallel."""
    half = games // 2
    parts = workers.map(tally, (half, games - half), (0, half))
    return PlayoutCounts(*map(sum, zip(*parts, strict=True)))
