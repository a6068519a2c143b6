"""Measure the ratios and print them in one table: python -m benchmarks.run [ROW ...]."""

import argparse
import datetime
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import (
    arena_rows,
    endgame_rows,
    game_rows,
    limit_rows,
    parallel_rows,
    perft_rows,
    process_rows,
    random_rows,
    search_rows,
    stat_rows,
    tuning_rows,
)
from benchmarks.c_program import FLAGS, compiler
from benchmarks.table import Row, details, rendered
from games.names import did_you_mean, listed

# A new row is a function from rounds to Row, and a line here.
ROWS: tuple[Callable[[int], Row], ...] = (
    perft_rows.perft_kalah,
    perft_rows.perft_othello,
    random_rows.random_kalah,
    random_rows.random_othello,
    random_rows.wide_sowing,
    parallel_rows.two_threads,
    parallel_rows.two_processes,
    search_rows.search_kalah,
    search_rows.search_othello,
    search_rows.depth_kalah,
    search_rows.depth_othello,
    search_rows.own_kalah,
    search_rows.own_othello,
    game_rows.loop_kalah,
    game_rows.loop_othello,
    limit_rows.limit_1,
    limit_rows.limit_10,
    limit_rows.limit_50,
    endgame_rows.othello_endgames,
    arena_rows.random_through_arena,
    arena_rows.mirror_through_arena,
    arena_rows.start_to_first_game,
    arena_rows.resume,
    stat_rows.rating,
    stat_rows.live_standings,
    tuning_rows.tuner_itself,
    tuning_rows.next_trial,
    tuning_rows.tuning_naive,
    process_rows.memory,
    process_rows.start_warm,
    process_rows.start_cold,
)
RESULTS = Path(__file__).with_name("results.md")
PACKAGES = ("numba", "llvmlite", "numpy", "open_spiel")
EXPLANATION = """\
`what` names ours, then after the colon what it is measured against. `ratio` is how many
times as fast, as small or as soon ours is: each pair takes turns in one run, best of
{rounds} rounds. Compare ratios, not the absolute numbers of different runs. The rows of
two workers need two idle cores.
"""


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line, read."""
    names = [row.__name__ for row in ROWS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{listed(names)}; all if none")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each pair (9)")
    asked = parser.parse_args(words)
    for name in asked.rows:
        if name not in names:
            near = did_you_mean(name, names)
            parser.error(f'there is no row "{name}" (there are {listed(names)}){near}')
    if asked.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {asked.rounds}")
    return asked


def measured(names: list[str], rounds: int) -> list[Row]:
    """The rows of these names, all if there are none, in the order of the table."""
    rows = []
    for row in ROWS:
        if not names or row.__name__ in names:
            print(f"measuring {row.__name__} ...", file=sys.stderr, flush=True)
            rows.append(row(rounds))
    return rows


def machine() -> list[str]:
    """What the numbers depend on, one fact a line."""
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    return [
        f"date: {datetime.datetime.now(datetime.UTC).date()}",
        f"machine: {processor()}, {os.cpu_count()} cores, {platform.system()}{load}",
        f"versions: Python {platform.python_version()}, {', '.join(map(package, PACKAGES))}",
        f"C: {compiler_version()}",
    ]


def processor() -> str:
    """The processor's name, or at least its kind."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def package(name: str) -> str:
    """The installed version."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def compiler_version() -> str:
    """The C compiler's first line about itself, and the flags it is given."""
    if compiler() is None:
        return "no cc"
    told = subprocess.run(
        ["cc", "--version"], check=True, capture_output=True, text=True, timeout=60
    )
    return f"{told.stdout.splitlines()[0]}, {' '.join(FLAGS)}"


def main(words: list[str] | None = None) -> int:
    """Run the command; only a full table replaces the file of results."""
    asked = arguments(words)
    facts = machine()
    rows = measured(asked.rows, asked.rounds)
    tables = "\n\n".join(filter(None, [rendered(rows), details(rows)]))
    print("\n".join([*facts, "", tables]))
    if not asked.rows:
        command = f"command: python -m benchmarks.run --rounds {asked.rounds}"
        listed = "\n".join(f"- {fact}" for fact in (*facts, command))
        explained = EXPLANATION.format(rounds=asked.rounds)
        RESULTS.write_text(f"# Benchmarks\n\n{explained}\n{listed}\n\n{tables}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
