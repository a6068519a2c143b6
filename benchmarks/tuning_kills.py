"""Kill studies repeatedly and check that each ends with the result of an undisturbed study.

python -m benchmarks.tuning_kills
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd

from arena.commands.registry import run_verb
from arena.tuning.samplers.registry import SAMPLERS

# The seed weights are bad on purpose, so that every method finds something to validate.
STUDY = """
game = "kalah(6,4)"
openings = {{ random_plies = 6 }}
[agents.mine]
kind = "alphabeta"
depth = 1
weights = {{ pot = -0.05, in_play = -0.02 }}
[tune]
agent = "mine"
games = 40
trials = 16
method = "{method}"
validation = {{ elo1 = 100, pairs = 100 }}
[tune.weights]
pot = [-1.0, 1.5]
in_play = [-1.0, 1.0]
"""
COMPARED_FILES = ("recommendation.json", "validation.parquet")
# The latest kill, as a share of an undisturbed study: most studies are killed several times.
LONGEST = 0.6
SEARCH, MATCH = STAGES = ("search", "match")


def study(directory: Path) -> int:
    """Play the rest of the study in this directory and return its exit status."""
    words = [str(directory / "killed.toml"), "--results", str(directory / "r"), "--quiet"]
    with (directory / "answer.txt").open("w") as file, contextlib.redirect_stdout(file):
        return run_verb("tune", [*words, "--workers", "2"])


def study_directory(directory: Path) -> Path | None:
    """Return the directory of the study, or None before it exists."""
    return next((directory / "r" / "killed").glob("tune-*"), None)


def stage(directory: Path) -> str:
    """Return the stage that a killed study had reached."""
    found = study_directory(directory)
    if found is None:
        return SEARCH
    with sqlite3.connect(found / "journal.sqlite") as base:
        query = "select count(*) from section_batches where section = 'validation'"
        return MATCH if base.execute(query).fetchone()[0] else SEARCH


def study_results(directory: Path) -> list[object]:
    """Return the results of a finished study: its trials without their times, and its files.

    A trial's fingerprint covers all its games.
    """
    found = study_directory(directory)
    assert found is not None
    rows = pd.read_parquet(found / "trials.parquet").drop(columns="seconds")
    return [rows.to_json(), *((found / name).read_bytes() for name in COMPARED_FILES)]


def start_study(directory: Path) -> int:
    """Fork a process that plays the study and return its id; compiled code is shared."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            status = study(directory)
        finally:
            os._exit(status)
    return child


def wait_or_kill(child: int, seconds: float) -> bool:
    """Return whether the process ends within this time; kill it otherwise."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            if status:
                raise SystemExit(f"a resumed study ended with exit status {status}, expected 0")
            return True
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def method_row(method: str, kills: int, directory: Path) -> str:
    """Return the row of a method: kills by stage, finished studies, and differing results."""
    text = STUDY.format(method=method)
    for name in ("whole", "cut"):
        (directory / name).mkdir()
        (directory / name / "killed.toml").write_text(text)
    study(directory / "whole")  # compile the kernels
    shutil.rmtree(directory / "whole" / "r")
    since = time.monotonic()
    study(directory / "whole")
    study_seconds, wanted = time.monotonic() - since, study_results(directory / "whole")
    rng, hits, finished, differ = random.Random(method), Counter[str](), 0, 0
    while hits.total() < kills or study_directory(directory / "cut"):
        longest = LONGEST * study_seconds if hits.total() < kills else float("inf")
        if wait_or_kill(start_study(directory / "cut"), rng.random() * longest):
            finished += 1
            differ += study_results(directory / "cut") != wanted
            shutil.rmtree(directory / "cut" / "r")
        else:
            hits[stage(directory / "cut")] += 1
    where = " | ".join(str(hits[each]) for each in STAGES)
    return f"| {method} | {hits.total()} | {where} | {finished} | {differ} |"


def main(words: list[str] | None = None) -> int:
    """Print a row for each method; return 1 if a study ended with another result."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_kills", description=__doc__)
    parser.add_argument("methods", nargs="*", choices=(*SAMPLERS, []), metavar="METHOD")
    parser.add_argument("--kills", type=int, default=200)
    chosen = parser.parse_args(words)
    rows = []
    for method in chosen.methods or SAMPLERS:
        with tempfile.TemporaryDirectory() as directory:
            rows.append(method_row(method, chosen.kills, Path(directory)))
        print(rows[-1], flush=True)
    return 0 if all(row.endswith(" 0 |") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
