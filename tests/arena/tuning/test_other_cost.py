"""The gain at equal time, and studies of options."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from arena.tuning.validation import gain_text, make_gain
from tests.arena.running import database
from tests.arena.tuning.test_study import study, trials
from tests.arena.tuning.test_tune_file import GOOD
from tests.commands import tune as main


def test_the_text_of_a_gain_has_interval_and_games() -> None:
    said = gain_text(make_gain("equal nodes", np.array([1.0, 0.5] * 50)))
    assert said.startswith("+191 [+")
    assert said.endswith("] Elo at equal nodes, in 200 further games")


# Weights at equal time, and with options that a walk in small steps could not tell apart.
TERMS = GOOD.replace("depth = 2", "nodes = 40").replace(
    "weights = { pot = 1.0 }", "weights = { pot = -1.0 }"
)
TERMS = TERMS.replace("pot = [0.5, 5.0]", "pot = [-1.0, 1.0]").replace("trials = 20", "trials = 40")
TERMS = TERMS.replace("[tune.weights]", "validation = { elo1 = 50, pairs = 400 }\n[tune.weights]")
OPTIONS = TERMS.replace("nodes = 40", "nodes = 40\nendgame = 4\nrandom_ties = true").replace(
    "[tune.weights]",
    'equal = "time"\noptions = { endgame = [0, 12], random_ties = { choices = [true, false] } }\n'
    "[tune.weights]",
)


@pytest.mark.slow
def test_the_claim_has_the_gain_at_equal_time_beside_it(tmp_path: Path) -> None:
    said = json.loads((study(tmp_path, TERMS) / "recommendation.json").read_text())
    gain = said["at_other_cost"]
    assert gain["terms"].startswith("equal time (")
    assert gain["games"] == 200
    assert 0.0 < gain["score"][1] < gain["score"][2]


@pytest.mark.slow
def test_a_study_of_options_continues_byte_by_byte(tmp_path: Path) -> None:
    found = study(tmp_path, OPTIONS)
    whole, said = trials(found), (found / "recommendation.json").read_text()
    assert set(whole["random_ties"]) == {"true", "false"}
    assert json.loads(said)["at_other_cost"]["terms"] == "equal nodes"
    assert set(tomllib.loads((found / "options.toml").read_text())) == {"endgame", "random_ties"}
    with database(found / "journal.sqlite") as base:
        base.execute("delete from section_batches where section = 'trials' and start >= 25")
    again = study(tmp_path, OPTIONS)
    assert trials(again).equals(whole)
    assert (again / "recommendation.json").read_text() == said


BOT_STUDY = """\
game = "kalah(6,4)"
isolation = "required"
[agents.mine]
kind = "python"
file = "bot.py"
options = { left = 0 }
[tune]
agent = "mine"
games = 20
trials = 10
[tune.options]
options = { left = [0, 1] }
"""


@pytest.mark.slow
def test_a_study_of_a_bot_begins_only_behind_the_walls_that_it_requires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PITFLIP_SANDBOX", "limits")
    (tmp_path / "bot.py").write_text(
        "class Bot:\n    def __init__(self, left):\n        self.left = left\n"
        "    def choose(self, view, legal, rng):\n        return legal[0 if self.left else -1]\n"
        "choose = Bot\n"
    )
    (tmp_path / "tune_bot.toml").write_text(BOT_STUDY)
    words = [str(tmp_path / "tune_bot.toml"), "--results", str(tmp_path / "r"), "--quiet"]
    assert main(words) == 2
    assert 'isolation = "required" cannot be had' in capsys.readouterr().err
