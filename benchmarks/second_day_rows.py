"""What is asked after the first table: how soon the first line of an answer is there."""

import subprocess
import sys
import time

from benchmarks.fresh import ROOT
from benchmarks.table import Row

FIRST_LINE_SECONDS = 2.0
PLAN = ("arena.plan", "experiments/kalah_ladder.toml", "--known", "off")
EXPLAIN = ("arena.explain", "kalah(6,4)", "3 6 1", "--perfect", "0")


def plan_first_line(rounds: int) -> Row:
    """Seconds until `arena.plan` has printed its first line, warm cache."""
    return first_line_row(rounds, PLAN)


def explain_first_line(rounds: int) -> Row:
    """Seconds until `arena.explain` has printed its first line, warm cache."""
    return first_line_row(rounds, EXPLAIN)


def first_line_row(rounds: int, words: tuple[str, ...]) -> Row:
    """The best of some rounds against the time that is allowed; one before them warms the cache."""
    seconds_to_first_line(words)
    taken = min(seconds_to_first_line(words) for _ in range(min(rounds, 5)))
    what = f"{words[0]}, start to first line, warm cache: allowed"
    ratio = FIRST_LINE_SECONDS / taken
    return Row(what, f"{taken:.2f} s", f"{FIRST_LINE_SECONDS:g} s", ratio, 1.0)


def seconds_to_first_line(words: tuple[str, ...]) -> float:
    """Seconds from the start of a command to its first line; it is then left to its end."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - begun
        process.stdout.read()
    assert line.strip()
    return taken
