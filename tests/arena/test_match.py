"""The command `pitflip match`."""

import pytest

from arena.config.experiment import agent_name, load_experiment, match_tables
from games.base.errors import OK
from tests.arena.running import only_run
from tests.commands import match, run

HERE = ("--workers", "0", "--quiet", "--cache", "off")


def test_two_agents_play_and_the_written_file_is_the_same_match(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["random", "random", "--game", "kalah(4,3)", "--pairs", "6", "--openings", "4"]
    assert match([*words, "--seed", "5", *HERE]) == OK
    directory = only_run(tmp_path / "results")
    assert directory.parent.name == "random-vs-random-2"
    assert (directory / "report.html").exists()
    capsys.readouterr()
    (tmp_path / "m.toml").write_text((directory / "experiment.toml").read_text())
    assert run(["m.toml", *HERE]) == OK
    assert only_run(tmp_path / "results") == directory
    plan = load_experiment(tmp_path / "m.toml").plan
    assert (plan.pairs, plan.seed) == (6, 5)


def test_a_test_ends_the_match(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["greedy", "random", "--game", "kalah(4,3)", "--pairs", "300", "--sprt", "0", "100"]
    assert match([*words, *HERE]) == OK
    assert "accepted 100" in capsys.readouterr().out


def test_a_forecast_leaves_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["greedy", "random", "--game", "kalah(4,3)", "--pairs", "9", "--workers", "0"]
    assert match([*words, "--dry-run"]) == OK
    assert "18 games" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("greedy", "greedy"),
        ("bots/my_bot.py", "my_bot"),
        ("bots/my_bot.py:evaluate", "my_bot"),
        ("mine.toml:deep", "deep"),
        ("class/anna/bot.toml", "anna"),
        ("gtp ./engine -l 1", "gtp"),
        ({"kind": "minimax"}, "minimax"),
    ],
)
def test_names_come_from_kinds_and_files(agent, name):
    assert agent_name(agent) == name


def test_kinds_with_options_play_under_names_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = match_tables("minimax:depth=2", "minimax:depth=1,epsilon=0.5", "kalah(3,2)", {})
    assert list(tables["agents"]) == ["minimax-depth-2", "minimax-depth-1-epsilon-0.5"]
    assert tables["agents"]["minimax-depth-2"] == {"kind": "minimax", "depth": 2}
