"""Kill -9 of a run with outside bots: of its process, a worker, the spawner, a bot; it goes on."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest

from agents.sandbox.usage import children, descendants
from tests.arena.running import is_alive, only_run, run_in_subprocess, start_process, tables

PAIRS, KILLS = 120, 300
EXPERIMENT = """
game = "kalah(4,3)"
pairs = {pairs}
seed = 11
openings = {{ random_plies = 4 }}

[agents.function]
kind = "python"
file = "function.py"

[agents.program]
kind = "lines"
command = ["{python}", "-IS", "program.py"]

[agents.searching]
kind = "alphabeta"
depth = 2
epsilon = 0.2
evaluate = "searching.py"

[agents.random]
kind = "random"
"""
SEARCHING = """
from agents.features.sowing import pot, turned

def evaluate(rules, position):
    return 1.0 * pot(rules, position) - pot(rules, turned(position))
"""
BOTS = {
    "function.py": "def choose(view, legal, rng):\n    return rng.choice(legal)\n",
    "program.py": (
        "import sys\n"
        "for line in sys.stdin:\n"
        "    _, legal, _, chance, _ = line.split(';')\n"
        "    print(legal.split()[int(chance) % len(legal.split())], flush=True)\n"
    ),
    "searching.py": SEARCHING,
}
PATIENCE_SECONDS = 60.0
WORDS = ("--workers", 2, "--quiet", "--cache", "off")


@pytest.fixture
def experiment(tmp_path) -> Path:
    """The experiment with its bots, in a directory whose path has no blanks."""
    for name, text in BOTS.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "killed.toml"
    path.write_text(EXPERIMENT.format(pairs=PAIRS, python=sys.executable))
    return path


@dataclass
class Killer:
    """Ends processes of runs at random moments, and keeps count."""

    path: Path
    chance: random.Random
    wanted: tuple[str, ...] = ("run", "worker", "spawner", "bot")
    kills: Counter = field(default_factory=Counter)

    def victims(self, run: int, what: str) -> list[int]:
        """The processes of this sort that there are now."""
        below = children(run)
        spawners = [each for each in below if is_spawner(each)]
        bots = [bot for each in spawners for bot in descendants(each)[1:]]
        workers = [each for each in below if each not in spawners]
        return {"run": [run], "worker": workers, "spawner": spawners, "bot": bots}[what]

    def played(self, results: Path, most: int) -> None:
        """Play a run to its end, killing now and then, at most so often in all."""
        environment = {**os.environ, "TMPDIR": str(self.path.parent / "scratch")}
        Path(environment["TMPDIR"]).mkdir(exist_ok=True)
        while True:
            with start_process(
                self.path, "--results", results, *WORDS, env=environment, stdin=subprocess.DEVNULL
            ) as process:
                seen = self._disturb(process, most)
                errors = process.communicate(timeout=PATIENCE_SECONDS * 3)[1]
            gone(seen)
            assert "Traceback" not in errors
            # 3: two workers died of the same pairing, which is named; the same command continues.
            if process.returncode not in (-signal.SIGKILL, 3):
                assert process.returncode == 0, errors
                assert list(Path(environment["TMPDIR"]).iterdir()) == []
                return

    def _disturb(self, process: subprocess.Popen, most: int) -> set[int]:
        """Kill until the run is over or killed itself; all its processes that were seen."""
        seen = {process.pid}
        while self.kills.total() < most:
            what = self.chance.choice(self.wanted)
            try:
                process.wait(self.chance.uniform(0.2, 1.5))
                break
            except subprocess.TimeoutExpired:
                seen |= set(descendants(process.pid))
            if victims := self.victims(process.pid, what):
                end(self.chance.choice(victims))
                self.kills[what] += 1
                if what == "run":
                    break
        return seen


def is_spawner(process: int) -> bool:
    """Whether a child of a run is the spawner of its bots."""
    try:
        return b"agents.sandbox" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def end(process: int) -> None:
    """Kill -9, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def gone(processes: set[int]) -> None:
    """Wait until none of them is alive."""
    until = time.monotonic() + PATIENCE_SECONDS
    while left := [each for each in processes if is_alive(each)]:
        assert time.monotonic() < until, f"still there: {left}"
        time.sleep(0.02)


def games_of(results: Path) -> pd.DataFrame:
    """The games of the only run."""
    return pd.read_parquet(only_run(results) / "games.parquet")


def unloadable(results: Path) -> list[str]:
    """Who forfeited all games of the only run: bots that were killed each time they were tried."""
    return list(json.loads((only_run(results) / "run.json").read_text())["unloadable"])


@pytest.mark.slow
def test_a_run_whose_spawner_is_lost_begins_another(experiment, tmp_path):
    assert (
        run_in_subprocess(
            experiment, "--results", tmp_path / "calm", *WORDS, seconds=600
        ).returncode
        == 0
    )
    killer = Killer(experiment, random.Random(3), ("spawner",))
    killer.played(tmp_path / "killed", 2)
    assert killer.kills["spawner"] > 0
    assert tables(tmp_path / "killed") == tables(tmp_path / "calm")


@pytest.mark.slow
def test_bot_runs_killed_three_hundred_times_end_with_the_same_tables(experiment, tmp_path):
    assert (
        run_in_subprocess(
            experiment, "--results", tmp_path / "calm", *WORDS, seconds=600
        ).returncode
        == 0
    )
    expected, games = tables(tmp_path / "calm"), games_of(tmp_path / "calm")
    assert set(games.termination) == {"normal"}
    ours = Killer(experiment, random.Random(5), ("run", "worker", "spawner"))
    bots = Killer(experiment, random.Random(7))
    while ours.kills.total() + bots.kills.total() < KILLS:
        left = KILLS - bots.kills.total()
        ours.played(tmp_path / "ours", min(left, ours.kills.total() + 20))
        assert tables(tmp_path / "ours") == expected
        before, left = bots.kills["bot"], KILLS - ours.kills.total()
        bots.played(tmp_path / "bots", min(left, bots.kills.total() + 20))
        # A bot that is killed has crashed: that is its game, and no other.
        seen, away = games_of(tmp_path / "bots"), unloadable(tmp_path / "bots")
        away = seen["first"].isin(away) | seen.second.isin(away)
        crashed = (seen.termination != "normal") & ~away
        assert crashed.sum() <= bots.kills["bot"] - before
        assert seen[~crashed & ~away].equals(games[~crashed & ~away])
        for each in ("ours", "bots"):
            shutil.rmtree(tmp_path / each)
        print(f"{ours.kills.total() + bots.kills.total()} kills: {ours.kills + bots.kills}")
