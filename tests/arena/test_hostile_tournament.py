"""All hostile bots in one tournament, by the command: what reaches the terminal, what is left."""

import os
import pty
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from agents.sandbox.sandbox import Sandbox
from agents.sandbox.usage import descendants
from tests.agents.test_hostile_bots import BEYOND_LIMITS, BOTS, HOSTILE
from tests.arena.running import command, is_alive, only_run

HEAD = """
game = "kalah(4,3)"
pairs = 1
seed = 5
move_seconds = 0.5
openings = { random_plies = 3 }
schedule = { gauntlet = "harmless" }
[agents.harmless]
kind = "python"
file = "harmless.py"
[agents.random]
kind = "random"
[roster]
directory = "bots"
options = { memory = "96MB", processes = 12, start_seconds = 3 }
"""
HARMLESS = "def choose(view, legal, rng):\n    return rng.choice(legal)\n"
# They write what moves a cursor, sets a title, rings a bell or turns the direction of writing.
TALKERS = ("prints_escape_codes", "raises_escape_codes", "raises_a_chain", "returns_control_bytes",
           "returns_a_long_text", "warns", "writes_the_answer_itself",
           "fails_in_a_way_that_there_is_not")  # fmt: skip
OUR_CODES = re.compile(rb"\x1b\[(\?25[lh]|[0-9;]*[mKA])|\r")  # colours, lines written again
PATIENCE_SECONDS = 900


def experiment(directory: Path, names: list[str]) -> list[str]:
    """The command that plays these bots; everything that they may aim at lies beside them."""
    (directory / "bots").mkdir()
    (directory / "canary").write_text("alive")
    (directory / "harmless.py").write_text(HARMLESS)
    words = {"@canary@": str(directory / "canary"), "@port@": "9", "@owner@": str(os.getpid())}
    for name in names:
        source = (HOSTILE / f"{name}.py").read_text()
        source = re.sub("@[a-z]+@", lambda found: words[found[0]], source)
        (directory / "bots" / f"{name}.py").write_text(source)
    (directory / "hostile.toml").write_text(HEAD)
    return command(
        directory / "hostile.toml", "--results", directory / "results", "--cache", "off",
        "--workers", 2,
    )  # fmt: skip


def surroundings(directory: Path) -> dict[str, str]:
    """The environment of a run whose temporary files lie in a directory of its own."""
    (directory / "scratch").mkdir()
    return {**os.environ, "TMPDIR": str(directory / "scratch")}


def nothing_left(directory: Path) -> None:
    """No file but those of the run, no process."""
    assert list((directory / "scratch").iterdir()) == []
    assert (directory / "canary").read_text() == "alive"
    kept = {path.name for path in directory.iterdir()}
    assert kept == {"bots", "canary", "harmless.py", "hostile.toml", "results", "scratch"}


def games_of_others(directory: Path) -> pd.DataFrame:
    """The games of the two who are not hostile."""
    games = pd.read_parquet(only_run(directory / "results") / "games.parquet")
    others = games["first"].isin(("harmless", "random")) & games.second.isin(("harmless", "random"))
    columns = {"first": str, "second": str}  # not of as many names
    return games[others].reset_index(drop=True).astype(columns)


@pytest.mark.slow
def test_a_tournament_of_all_hostile_bots_ends_with_tables_and_leaves_nothing(tmp_path):
    names = [each for each in BOTS if each not in BEYOND_LIMITS or sandbox_level() != "limits"]
    calm = tmp_path / "calm"
    calm.mkdir()
    words, environment = experiment(calm, []), surroundings(calm)
    assert subprocess.run(words, env=environment, check=False, capture_output=True).returncode == 0
    words, environment = experiment(tmp_path, names), surroundings(tmp_path)
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        seen: set[int] = set()
        while run.poll() is None:
            seen |= set(descendants(run.pid)[:50])
            with suppress(subprocess.TimeoutExpired):
                output = run.communicate(timeout=0.5)[0]
    assert run.returncode == 0, output.decode()
    assert [byte for byte in output if byte < 0x20 and byte != 0x0A] == []
    assert not re.search("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]", output.decode())
    assert not any(map(is_alive, seen))
    shutil.rmtree(calm / "scratch")
    expected = games_of_others(calm)
    shutil.rmtree(calm)
    nothing_left(tmp_path)
    assert games_of_others(tmp_path).equals(expected)
    ends = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet")
    assert set(ends["first"]) | set(ends.second) >= set(names)


@pytest.mark.slow
def test_no_bot_writes_to_the_terminal(tmp_path):
    words, environment = experiment(tmp_path, list(TALKERS)), surroundings(tmp_path)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        words, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as run:
        os.close(theirs)
        output = b""
        with suppress(OSError):  # the last who had the terminal open is gone
            while piece := os.read(ours, 1 << 16):
                output += piece
    os.close(ours)
    assert run.returncode == 0
    rest = OUR_CODES.sub(b"", output)
    assert [byte for byte in rest if byte < 0x20 and byte != 0x0A] == []
    assert not re.search("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest.decode())
    nothing_left(tmp_path)


def sandbox_level() -> str:
    """The level of this machine."""
    sandbox = Sandbox()
    try:
        return sandbox.level.name
    finally:
        sandbox.close()
