"""Studies that are killed again and again: each must end as if nothing had happened.

python -m benchmarks.tuning_kills tpe --kills 200 --halves 2
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from arena.tune import main as tune
from arena.tuning.samplers import SAMPLERS

# Against weights that lose on purpose nearly every trial wins, so there is a second half.
SEEDS = {1: "pot = 1.0", 2: "pot = -1.0"}
STUDY = """
game = "kalah(6,4)"
openings = {{ random_plies = 6 }}
[agents.mine]
kind = "alphabeta"
depth = 1
weights = {{ {seed} }}
[tune]
agent = "mine"
games = 40
trials = {trials}
method = "{method}"
validation = {{ elo1 = 100, pairs = 100 }}
[tune.weights]
pot = [-1.0, 1.5]
in_play = [-1.0, 1.0]
"""
TRIALS = {1: 16, 2: 40}
ALIKE = ("recommendation.json", "importance.parquet", "validation.parquet")
LONGER = 1.2  # than an undisturbed study: some kills come when it is finished


def study(directory: Path) -> int:
    """Play what is left of the study here; its exit status."""
    words = [str(directory / "killed.toml"), "--results", str(directory / "r"), "--quiet"]
    with (directory / "answer.txt").open("w") as file, contextlib.redirect_stdout(file):
        return tune([*words, "--workers", "2"])


def ending(directory: Path) -> list[bytes]:
    """What a finished study has concluded: its trials without their seconds, its files."""
    (found,) = (directory / "r" / "killed").glob("tune-*")
    rows = pd.read_parquet(found / "trials.parquet").drop(columns="seconds")
    halves = bytes(str(sorted(set(rows["half"]))), "ascii")
    return [rows.to_json().encode(), halves, *((found / name).read_bytes() for name in ALIKE)]


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


def killed(method: str, halves: int, kills: int, directory: Path) -> str:
    """The row of a method: kills, studies that they fell into, how many of these differ."""
    text = STUDY.format(seed=SEEDS[halves], trials=TRIALS[halves], method=method)
    for name in ("whole", "cut"):
        (directory / name).mkdir()
        (directory / name / "killed.toml").write_text(text)
    since = time.monotonic()
    study(directory / "whole")
    study_seconds, wanted = time.monotonic() - since, ending(directory / "whole")
    rng, hits, finished, differ = random.Random(f"{method} {halves}"), 0, 0, 0
    while hits < kills:
        if ended_by(begun(directory / "cut"), rng.uniform(0.0, LONGER * study_seconds)):
            finished += 1
            differ += ending(directory / "cut") != wanted
            shutil.rmtree(directory / "cut" / "r")
        else:
            hits += 1
    kept = wanted[1].decode()
    return f"| {method} | {kept} | {hits} | {finished} | {differ} |"


def main(words: list[str] | None = None) -> int:
    """Print a row; the status is 1 if a study ended otherwise."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_kills", description=__doc__)
    parser.add_argument("method", choices=tuple(SAMPLERS))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--halves", type=int, choices=(1, 2), default=1)
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as directory:
        row = killed(chosen.method, chosen.halves, chosen.kills, Path(directory))
    print(row)
    return 0 if row.endswith(" 0 |") else 1


if __name__ == "__main__":
    sys.exit(main())
