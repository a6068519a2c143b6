"""Studies that are killed again and again: each must end as if nothing had happened.

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

from arena.commands.tune import main as tune
from arena.tuning.samplers.registry import SAMPLERS

# Its seed weights lose on purpose, so that every method finds something to validate.
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
ALIKE = ("recommendation.json", "validation.parquet")
LONGEST = 0.6  # of an undisturbed study until a kill: most studies are killed several times
SEARCH, MATCH = STAGES = ("search", "match")


def study(directory: Path) -> int:
    """Play what is left of the study here; its exit status."""
    words = [str(directory / "killed.toml"), "--results", str(directory / "r"), "--quiet"]
    with (directory / "answer.txt").open("w") as file, contextlib.redirect_stdout(file):
        return tune([*words, "--workers", "2"])


def found_in(directory: Path) -> Path | None:
    """The directory of the study; None as long as there is none."""
    return next((directory / "r" / "killed").glob("tune-*"), None)


def stage(directory: Path) -> str:
    """How far a study came that was killed."""
    found = found_in(directory)
    if found is None:
        return SEARCH
    with sqlite3.connect(found / "journal.sqlite") as base:
        query = "select count(*) from section_batches where section = 'validation'"
        return MATCH if base.execute(query).fetchone()[0] else SEARCH


def ending(directory: Path) -> list[object]:
    """What a finished study has concluded: its trials without their seconds, its files.

    A trial's fingerprint is that of all its games.
    """
    found = found_in(directory)
    assert found is not None
    rows = pd.read_parquet(found / "trials.parquet").drop(columns="seconds")
    return [rows.to_json(), *((found / name).read_bytes() for name in ALIKE)]


def begun(directory: Path) -> int:
    """The number of a process that plays the study; it shares what is compiled here."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            status = study(directory)
        finally:
            os._exit(status)
    return child


def ended_by(child: int, seconds: float) -> bool:
    """Whether the process ends by itself within this time; else it is killed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            if status:
                raise SystemExit(f"a study that was killed before ended with status {status}")
            return True
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def killed(method: str, kills: int, directory: Path) -> str:
    """The row of a method: kills by where they fell, finished studies, how many of these differ."""
    text = STUDY.format(method=method)
    for name in ("whole", "cut"):
        (directory / name).mkdir()
        (directory / name / "killed.toml").write_text(text)
    study(directory / "whole")  # compiles what is compiled
    shutil.rmtree(directory / "whole" / "r")
    since = time.monotonic()
    study(directory / "whole")
    study_seconds, wanted = time.monotonic() - since, ending(directory / "whole")
    rng, hits, finished, differ = random.Random(method), Counter[str](), 0, 0
    while hits.total() < kills or found_in(directory / "cut"):
        longest = LONGEST * study_seconds if hits.total() < kills else float("inf")
        if ended_by(begun(directory / "cut"), rng.random() * longest):
            finished += 1
            differ += ending(directory / "cut") != wanted
            shutil.rmtree(directory / "cut" / "r")
        else:
            hits[stage(directory / "cut")] += 1
    where = " | ".join(str(hits[each]) for each in STAGES)
    return f"| {method} | {hits.total()} | {where} | {finished} | {differ} |"


def main(words: list[str] | None = None) -> int:
    """Print a row for each method; the status is 1 if a study ended otherwise."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_kills", description=__doc__)
    parser.add_argument("methods", nargs="*", choices=(*SAMPLERS, []), metavar="METHOD")
    parser.add_argument("--kills", type=int, default=200)
    chosen = parser.parse_args(words)
    rows = []
    for method in chosen.methods or SAMPLERS:
        with tempfile.TemporaryDirectory() as directory:
            rows.append(killed(method, chosen.kills, Path(directory)))
        print(rows[-1], flush=True)
    return 0 if all(row.endswith(" 0 |") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
