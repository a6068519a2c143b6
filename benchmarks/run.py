"""Measure the ratios and print them in one table: python -m benchmarks.run [ROW ...]."""

import argparse
import datetime
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.c_program import FLAGS, compiler
from benchmarks.table import Row, details, table_text
from games.base.text import did_you_mean, join_names

# name -> module with a function of that name that maps rounds to a Row; in table order
ROWS: Mapping[str, str] = {
    "perft_kalah": "benchmarks.perft_rows",
    "perft_othello": "benchmarks.perft_rows",
    "random_kalah": "benchmarks.random_rows",
    "random_othello": "benchmarks.random_rows",
    "wide_sowing": "benchmarks.random_rows",
    "sandboxed_bots": "benchmarks.sandbox_rows",
    "two_sandboxed_workers": "benchmarks.sandbox_rows",
    "sandbox_with_two_workers": "benchmarks.sandbox_rows",
    "bounds_checks": "benchmarks.sandbox_rows",
    "twelve_bots_start": "benchmarks.sandbox_rows",
    "clean_replays": "benchmarks.sandbox_rows",
    "two_threads": "benchmarks.parallel_rows",
    "two_processes": "benchmarks.parallel_rows",
    "search_kalah": "benchmarks.search_rows",
    "search_othello": "benchmarks.search_rows",
    "depth_kalah": "benchmarks.search_rows",
    "depth_othello": "benchmarks.search_rows",
    "own_kalah": "benchmarks.search_rows",
    "own_othello": "benchmarks.search_rows",
    "loop_kalah": "benchmarks.game_rows",
    "loop_othello": "benchmarks.game_rows",
    "limit_1": "benchmarks.limit_rows",
    "limit_10": "benchmarks.limit_rows",
    "limit_50": "benchmarks.limit_rows",
    "othello_endgames": "benchmarks.endgame_rows",
    "solver_endgames": "benchmarks.solve_rows",
    "solve_start": "benchmarks.solve_rows",
    "solve_start_again": "benchmarks.solve_rows",
    "solve_database": "benchmarks.solve_rows",
    "solve_openings": "benchmarks.solve_rows",
    "solve_openings_in_c": "benchmarks.solve_rows",
    "judge_games": "benchmarks.solve_rows",
    "random_through_arena": "benchmarks.arena_rows",
    "mirror_through_arena": "benchmarks.arena_rows",
    "start_to_first_game": "benchmarks.arena_rows",
    "resume": "benchmarks.arena_rows",
    "all_cached": "benchmarks.arena_rows",
    "none_cached": "benchmarks.arena_rows",
    "plan_first_line": "benchmarks.second_day_rows",
    "explain_first_line": "benchmarks.second_day_rows",
    "cluster_mirror": "benchmarks.cluster_rows",
    "cluster_random": "benchmarks.cluster_rows",
    "cluster_first_game": "benchmarks.cluster_rows",
    "cluster_memory": "benchmarks.cluster_rows",
    "memory_openings": "benchmarks.memory_rows",
    "memory_agents": "benchmarks.memory_rows",
    "page_2000": "benchmarks.page_rows",
    "page_million": "benchmarks.page_rows",
    "page_in_a_run": "benchmarks.page_rows",
    "live_in_a_run": "benchmarks.page_rows",
    "rating": "benchmarks.stat_rows",
    "live_standings": "benchmarks.stat_rows",
    "race_round": "benchmarks.stat_rows",
    "tuner_itself": "benchmarks.tuning_rows",
    "next_trial": "benchmarks.tuning_rows",
    "tuning_naive": "benchmarks.tuning_rows",
    "learned_kalah": "benchmarks.learning_rows",
    "learned_othello": "benchmarks.learning_rows",
    "six_weights": "benchmarks.learning_rows",
    "fit_step": "benchmarks.learning_rows",
    "learn_kalah": "benchmarks.learning_rows",
    "learn_othello": "benchmarks.learning_rows",
    "memory": "benchmarks.process_rows",
    "start_warm": "benchmarks.process_rows",
    "start_cold": "benchmarks.process_rows",
}
RESULTS = Path(__file__).with_name("results.md")
PACKAGES = ("numba", "llvmlite", "numpy", "open_spiel")
EXPLANATION = """\
`what` names our side and, after the colon, the other side. A `ratio` above 1 means that ours is
faster, smaller or earlier by that factor. Both sides alternate within one run, best of {rounds}
rounds. Compare ratios, not the absolute numbers of different runs. The rows with two workers
need two idle cores.
"""


def parse_arguments(words: list[str] | None) -> argparse.Namespace:
    """Parse and check the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{join_names(ROWS)}; all if none")
    parser.add_argument(
        "--rounds", type=int, default=9, help="rounds in which both sides are measured (9)"
    )
    options = parser.parse_args(words)
    for name in options.rows:
        if name not in ROWS:
            near = did_you_mean(name, ROWS)
            parser.error(f'there is no row "{name}" (rows: {join_names(ROWS)}){near}')
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {options.rounds}")
    return options


def measure(names: list[str], rounds: int) -> list[Row]:
    """Return the named rows in the order of the table, all if `names` is empty."""
    rows = []
    for name, module in ROWS.items():
        if not names or name in names:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            row: Callable[[int], Row] = getattr(importlib.import_module(module), name)
            rows.append(row(rounds))
    return rows


def machine() -> list[str]:
    """Return the facts that the numbers depend on, one a line."""
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    return [
        f"date: {datetime.datetime.now(datetime.UTC).date()}",
        f"machine: {processor()}, {os.cpu_count()} cores, {platform.system()}{load}",
        f"versions: Python {platform.python_version()}, {', '.join(map(package, PACKAGES))}",
        f"C: {compiler_version()}",
    ]


def processor() -> str:
    """Return the name of the processor, or its architecture if the name is unknown."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def package(name: str) -> str:
    """Return the name and installed version of a package."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def compiler_version() -> str:
    """Return the C compiler's version and flags."""
    if compiler() is None:
        return "no cc"
    done = subprocess.run(
        ["cc", "--version"], check=True, capture_output=True, text=True, timeout=60
    )
    return f"{done.stdout.splitlines()[0]}, {' '.join(FLAGS)}"


def main(words: list[str] | None = None) -> int:
    """Run the command; only a full table replaces the results file."""
    options = parse_arguments(words)
    facts = machine()
    rows = measure(options.rows, options.rounds)
    tables = "\n\n".join(filter(None, [table_text(rows), details(rows)]))
    print("\n".join([*facts, "", tables]))
    if not options.rows:
        command = f"command: python -m benchmarks.run --rounds {options.rounds}"
        listed = "\n".join(f"- {fact}" for fact in (*facts, command))
        explained = EXPLANATION.format(rounds=options.rounds)
        RESULTS.write_text(f"# Benchmarks\n\n{explained}\n{listed}\n\n{tables}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
