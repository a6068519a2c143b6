"""Weaker walls: on machines that have no better ones, the same games."""

import json

import pandas as pd
import pytest

from agents.sandbox.isolation import WALLS
from games.base.errors import CHECK_FAILED
from tests.arena.running import called, directory_of, experiment_file, ran, small
from tests.commands import check

DYING = """
import os
def choose(view, legal, rng):
    if rng.random() < 0.1:
        os._exit(3)
    return rng.choice(legal)
"""
BOT = '[agents.bot]\nkind = "python"\nfile = "bot.py"\n'


def run(directory, level, monkeypatch, more="", command=ran):
    monkeypatch.setenv("PITFLIP_SANDBOX", level)
    (directory / "bot.py").write_text(DYING)
    path = experiment_file(directory, small(6, more) + BOT)
    return command(path, "--results", directory / "results" / level, "--cache", "off")


@pytest.mark.slow
@pytest.mark.parametrize("level", WALLS)
def test_games_are_the_same_behind_any_walls(tmp_path, monkeypatch, level):
    strongest = next(iter(WALLS))
    tables = []
    for each in (strongest, level):
        run(tmp_path, each, monkeypatch)
        directory = directory_of(tmp_path / "results" / each)
        tables.append(pd.read_parquet(directory / "games.parquet"))
    stored = json.loads((directory / "run.json").read_text())
    assert stored["isolation"] == level
    assert ("seccomp" in stored["isolation_found"]) == (level in ("namespaces", "landlock"))
    assert isinstance(stored["pinned"], bool)
    assert tables[0].equals(tables[1])


def test_walls_that_are_required_and_missing_end_the_run_before_the_first_game(
    tmp_path, monkeypatch
):
    ended = run(tmp_path, "limits", monkeypatch, 'isolation = "required"', called)
    assert ended.returncode == 2
    assert 'isolation = "required" cannot be had: the level here is "limits"' in ended.stderr


OWN_FILE = """import sys
assert open("moves.txt").read() == "first"
for line in sys.stdin:
    print(line.split(";")[1].split()[0], flush=True)
"""
OWN_TABLE = 'kind = "lines"\ncommand = ["python3", "bot.py"]\ncwd = "."\nreadable = ["."]\n'


@pytest.mark.parametrize("level", WALLS)
def test_a_bot_reads_its_own_directory_behind_any_walls(tmp_path, monkeypatch, level):
    monkeypatch.setenv("PITFLIP_SANDBOX", level)
    own = tmp_path / "bots" / "mina"
    own.mkdir(parents=True)
    (own / "bot.py").write_text(OWN_FILE)
    (own / "moves.txt").write_text("first")
    (own / "bot.toml").write_text(OWN_TABLE)
    text = small(2) + "[agents.own]\n" + OWN_TABLE + '[roster]\ndirectory = "bots"\n'
    for name in ("bot.py", "moves.txt"):
        (tmp_path / name).write_bytes((own / name).read_bytes())
    ran(experiment_file(tmp_path, text), "--results", tmp_path / "results", "--cache", "off")
    directory = directory_of(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    assert set(games.termination) == {"normal"}
    assert {"own", "mina"} <= set(games["first"])


def test_a_directory_that_hides_the_scratch_directory_is_refused_in_words(tmp_path, capsys):
    (tmp_path / "bot.py").write_text(OWN_FILE)
    table = tmp_path / "bot.toml"
    table.write_text('kind = "lines"\ncommand = ["python3", "bot.py"]\nreadable = ["/tmp"]\n')
    assert check([str(table), "--game", "kalah(4,3)"]) == CHECK_FAILED
    assert "readable must not be /tmp" in capsys.readouterr().out
