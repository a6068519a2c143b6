"""Games are the same at every level, and a run knows its level."""

import json

import pandas as pd
import pytest

from agents.sandbox.isolation import LEVELS
from games.base.errors import CHECK_FAILED
from tests.arena.running import experiment_file, only_run, run_in_process, run_in_subprocess, small
from tests.commands import check

DYING = """
import os
def choose(view, legal, rng):
    if rng.random() < 0.1:
        os._exit(3)
    return rng.choice(legal)
"""
BOT = '[agents.bot]\nkind = "python"\nfile = "bot.py"\n'


def run(directory, level, monkeypatch, more="", command=run_in_subprocess):
    monkeypatch.setenv("PITFLIP_SANDBOX", level)
    (directory / "bot.py").write_text(DYING)
    path = experiment_file(directory, small(6, more) + BOT)
    return command(path, "--results", directory / "results" / level, "--cache", "off")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_games_are_the_same_at_every_level(tmp_path, monkeypatch, level):
    strongest = next(iter(LEVELS))
    tables = []
    for each in (strongest, level):
        run(tmp_path, each, monkeypatch)
        directory = only_run(tmp_path / "results" / each)
        tables.append(pd.read_parquet(directory / "games.parquet"))
    stored = json.loads((directory / "run.json").read_text())
    assert stored["isolation"] == level
    assert ("seccomp" in stored["isolation_found"]) == (level in ("namespaces", "landlock"))
    assert isinstance(stored["pinned"], bool)
    assert tables[0].equals(tables[1])


def test_a_run_without_the_required_isolation_ends_before_the_first_game(tmp_path, monkeypatch):
    ended = run(tmp_path, "limits", monkeypatch, 'isolation = "required"', run_in_process)
    assert ended.returncode == 2
    assert 'isolation = "required" cannot be had: the level here is "limits"' in ended.stderr


OWN_FILE = """import sys
assert open("moves.txt").read() == "first"
for line in sys.stdin:
    print(line.split(";")[1].split()[0], flush=True)
"""
OWN_TABLE = 'kind = "lines"\ncommand = ["python3", "bot.py"]\ncwd = "."\nreadable = ["."]\n'


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_reads_its_own_directory_at_every_level(tmp_path, monkeypatch, level):
    monkeypatch.setenv("PITFLIP_SANDBOX", level)
    own = tmp_path / "bots" / "mina"
    own.mkdir(parents=True)
    (own / "bot.py").write_text(OWN_FILE)
    (own / "moves.txt").write_text("first")
    (own / "bot.toml").write_text(OWN_TABLE)
    text = small(2) + "[agents.own]\n" + OWN_TABLE + '[roster]\ndirectory = "bots"\n'
    for name in ("bot.py", "moves.txt"):
        (tmp_path / name).write_bytes((own / name).read_bytes())
    run_in_subprocess(
        experiment_file(tmp_path, text), "--results", tmp_path / "results", "--cache", "off"
    )
    directory = only_run(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    assert set(games.termination) == {"normal"}
    assert {"own", "mina"} <= set(games["first"])


def test_a_readable_directory_above_the_scratch_directory_is_refused(tmp_path, capsys):
    (tmp_path / "bot.py").write_text(OWN_FILE)
    table = tmp_path / "bot.toml"
    table.write_text('kind = "lines"\ncommand = ["python3", "bot.py"]\nreadable = ["/tmp"]\n')
    assert check([str(table), "--game", "kalah(4,3)"]) == CHECK_FAILED
    assert "readable must not be /tmp" in capsys.readouterr().out
