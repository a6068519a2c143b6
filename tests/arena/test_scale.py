"""Placements on a scale: the command, the API, workers, interruptions and mistakes."""

import json

import pyarrow.parquet as pq
import pytest

import pitflip
from arena.config.experiment import agent_name, load_experiment
from arena.planning import tasks
from arena.planning.scale import load_scale
from arena.storage.run_file import changed_files
from games import game
from games.base.errors import OK, USER_ERROR
from tests.arena.running import experiment_file, only_run, run_experiment_file, tables
from tests.arena.test_pipeline import Impatient
from tests.commands import match

KALAH = "kalah(6,4)"
SETTINGS = ("--workers", "0", "--cache", "off")
PLACED = """
game = "kalah(6,4)"
pairs = 30
schedule = { scale = "me" }
[agents.me]
kind = "minimax"
depth = 2
epsilon = 0.1
"""


def test_a_newcomer_is_placed_with_its_move_loss_and_the_anchors_it_met(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    words = ["minimax:depth=4", "scale", "--pairs", "24", *SETTINGS]
    assert match(words) == OK
    *_, loss, headline = capsys.readouterr().out.splitlines()
    assert headline.startswith("minimax-depth-4: ")
    assert "Elo on the scale of kalah(6,4) [" in headline
    assert "between minimax-depth-" in headline
    assert "mean move loss" in loss
    assert "anchors: " in loss
    directory = only_run(tmp_path / "results")
    rows = {row["agent"]: row for row in pq.read_table(directory / "elo.parquet").to_pylist()}
    scale = load_scale(game(KALAH))
    for name, elo in zip(scale.anchors, scale.elo, strict=True):
        assert rows[name]["elo"] == elo
    own = rows["minimax-depth-4"]
    assert own["elo_low"] < own["elo"] < own["elo_high"]
    assert sum(row["games"] for row in rows.values()) == 2 * own["games"] <= 96
    assert "minimax-depth-4" in (directory / "report.html").read_text()
    assert json.loads((directory / "judgement.json").read_text())["agents"]
    assert not changed_files(directory)  # the page was written again, after the judgement


def test_workers_and_interruptions_change_no_placement(tmp_path, monkeypatch):
    path = experiment_file(tmp_path, PLACED)
    run_experiment_file(path, tmp_path / "alone")
    expected = tables(tmp_path / "alone")
    monkeypatch.setattr(tasks, "MAX_PAIRS", 3)
    run_experiment_file(path, tmp_path / "two", 2)
    assert tables(tmp_path / "two") == expected
    interruptions = 0
    while True:
        try:
            run_experiment_file(path, tmp_path / "parts", interrupts=Impatient(4 + interruptions))
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions > 1
    assert tables(tmp_path / "parts") == expected


@pytest.mark.parametrize("text", ["greedy:epsilon=0.5", "minimax:depth=3"])
def test_an_anchor_that_is_left_out_gets_its_rating_back(tmp_path, text):
    scale = load_scale(game(KALAH))
    placed = pitflip.match(text, "scale", seed=4, results=tmp_path, workers=0, progress=False)
    rows, name = placed.ratings.set_index("agent"), agent_name(text)
    assert set(rows.index) == set(scale.anchors)
    stored = dict(zip(scale.anchors, scale.elo, strict=True))[name]
    assert rows.games[name] > 0
    assert rows.elo_low[name] <= stored <= rows.elo_high[name]


def test_an_agent_may_have_the_name_of_an_anchor(tmp_path):
    text = PLACED.partition("[agents")[0].replace('"me"', '"greedy"')
    (tmp_path / "greedy.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    text += '[agents.greedy]\nkind = "python"\nfile = "greedy.py"\n'
    plan = load_experiment(experiment_file(tmp_path, text)).plan
    assert plan.names[0] == "greedy"
    assert "greedy-2" in plan.names
    assert len(plan.matches) == len(load_scale(game(KALAH)).anchors)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--game", "kalah(6,6)"], "there is no scale of kalah(6,6)"),
        (["--openings", "4"], "openings must be { random_plies = 6 }"),
        (["--sprt", "0", "10"], "remove [stop]"),
    ],
)
def test_mistakes_are_named(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert match(["greedy", "scale", *words, *SETTINGS]) == USER_ERROR
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.splitlines()) == 1


def test_other_agents_of_the_file_do_not_play(tmp_path):
    text = PLACED + '[agents.other]\nkind = "greedy"\nepsilon = 0.9\n'
    plan = load_experiment(experiment_file(tmp_path, text)).plan
    assert plan.names == ("me", *load_scale(game(KALAH)).anchors)
