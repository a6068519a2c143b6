"""A study on real games, from bad weights to good ones; it takes minutes."""

import re
from pathlib import Path

import pytest

from tests.commands import run, tune

BAD = """\
game = "kalah(6,4)"
seed = 7
openings = { random_plies = 6 }
[agents.bad]
kind = "alphabeta"
nodes = 500
weights = { pot = 0.0, in_play = -0.5, extra_turn = -0.5 }
[tune]
agent = "bad"
games = 600
trials = 200
[tune.weights]
pot = [-1.0, 2.0]
in_play = [-1.0, 1.0]
extra_turn = [-1.0, 2.0]
capture = [-0.5, 1.0]
mobility = [-1.0, 2.0]
[tune.validation]
elo1 = 50
pairs = 1000
"""

MATCH = """\
game = "kalah(6,4)"
seed = 8
pairs = 3000
openings = { random_plies = 6 }
[agents.tuned]
kind = "smart_classic"
nodes = 500
weights = "WEIGHTS"
[agents.classic]
kind = "smart_classic"
nodes = 500
[[checks]]
that = "tuned beats classic"
elo_at_least = -25
"""


@pytest.mark.slow
def test_from_bad_weights_tuning_reaches_those_of_smart_classic(tmp_path: Path) -> None:
    (tmp_path / "tune_bad.toml").write_text(BAD)
    results = ["--results", str(tmp_path / "r"), "--quiet"]
    assert tune([str(tmp_path / "tune_bad.toml"), *results]) == 0
    (better,) = (tmp_path / "r" / "tune_bad").glob("tune-*/weights.toml")
    # The bad weights lose nearly all games, so a second study begins at the better ones.
    again = re.sub(r"(?m)^weights = .*", f'weights = "{better}"', BAD)
    (tmp_path / "tune_again.toml").write_text(again)
    assert tune([str(tmp_path / "tune_again.toml"), *results]) == 0
    (weights,) = (tmp_path / "r" / "tune_again").glob("tune-*/weights.toml")
    (tmp_path / "match.toml").write_text(MATCH.replace("WEIGHTS", str(weights)))
    assert run([str(tmp_path / "match.toml"), *results]) == 0
