"""A real GTP engine, if it is installed."""

import shutil
import sys

import pandas
import pytest

from games import game
from games.base.errors import OK
from tests.agents.helpers import ROOT
from tests.agents.programs import host_program, play_moves
from tests.commands import run as arena_run

RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
OTHELLO = game("othello(8)")
MOST_GAMES = 40


@pytest.mark.skipif(RHINO is None, reason="gtp-rhino (Debian package grhino) is not installed")
@pytest.mark.parametrize("player", [0, 1])
def test_rhino_plays_whole_games(player):
    passes = place = 0
    with host_program("gtp", OTHELLO, command=[str(RHINO), "-l", "1", "-b", "0"]) as agent:
        while place < 3 or (not passes and place < MOST_GAMES):  # its games differ
            opening = ((), (19, 18, 26), (44, 45, 37, 29))[place % 3]
            passes += play_moves(agent, OTHELLO, (player + place) % 2, opening).count(
                OTHELLO.pass_move
            )
            place += 1
        assert passes
        assert not [note for note in agent.notes if "again" in note]


MATCH = """
game = "othello(8)"
pairs = 2
[agents.rhino]
kind = "gtp"
command = ["gtp-rhino", "-l", "1", "-b", "0"]
[agents.served]
kind = "gtp"
command = ["{python}", "-m", "pitflip", "serve", "gtp", "--agent", "greedy"]
cwd = "{root}"
start_seconds = 120
"""


@pytest.mark.slow  # an engine of ours loads its kernels in a process of its own
@pytest.mark.skipif(RHINO is None, reason="gtp-rhino (Debian package grhino) is not installed")
def test_rhino_plays_match_against_engine(tmp_path):
    path = tmp_path / "match.toml"
    path.write_text(MATCH.format(python=sys.executable, root=ROOT))
    words = [str(path), "--results", str(tmp_path), "--quiet", "--workers", "1"]
    assert arena_run(words) == OK
    (table,) = tmp_path.rglob("games.parquet")
    games = pandas.read_parquet(table)
    assert len(games) == 4
    assert set(games.termination) == {"normal"}
