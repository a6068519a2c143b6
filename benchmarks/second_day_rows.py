"""Benchmarks of commands that users run after their first table: time to the first line."""

import subprocess
import sys
import time

from benchmarks.fresh import ROOT
from benchmarks.table import Row

FIRST_LINE_SECONDS = 2.0
FORECAST = ("run", "experiments/kalah_ladder.toml", "--cache", "off", "--dry-run")
EXPLAIN = ("game", "kalah(6,4)", "explain", "3 6 1", "--solve-seconds", "0")


def plan_first_line(rounds: int) -> Row:
    """Measure the time to the first line of `pitflip run --dry-run`, warm cache."""
    return first_line_row(rounds, "pitflip run --dry-run", FORECAST)


def explain_first_line(rounds: int) -> Row:
    """Measure the time to the first line of `pitflip game explain`, warm cache."""
    return first_line_row(rounds, "pitflip game explain", EXPLAIN)


def first_line_row(rounds: int, command: str, words: tuple[str, ...]) -> Row:
    """Compare the best of several rounds with the allowed time, after a run to warm the cache."""
    seconds_to_first_line(words)
    taken = min(seconds_to_first_line(words) for _ in range(min(rounds, 5)))
    what = f"{command}, start to first line, warm cache: allowed"
    ratio = FIRST_LINE_SECONDS / taken
    return Row(what, f"{taken:.2f} s", f"{FIRST_LINE_SECONDS:g} s", ratio, 1.0)


def seconds_to_first_line(words: tuple[str, ...]) -> float:
    """Return the seconds from the start of a command to its first line; wait for its end."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "pitflip", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - begun
        process.stdout.read()
    assert line.strip()
    return taken
