"""Hosting programs that are not ours, where they are installed."""

import shutil
import sys

import pandas
import pytest

from agents.protocols import gtp
from games import game
from games.base.errors import OK
from tests.agents.given import ROOT
from tests.agents.protocols.wire import Program, Table, Wire
from tests.commands import run as arena_run

RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
OTHELLO = game("othello(8)")
MOST_GAMES = 40


@pytest.mark.skipif(RHINO is None, reason="gtp-rhino (Debian package grhino) is not installed")
@pytest.mark.parametrize("player", [0, 1])
def test_rhino_plays_whole_games_from_openings_and_through_passes(player):
    rhino = Program(str(RHINO), "-l", "1", "-b", "0")
    wire = Wire(rhino, gtp.conversation(OTHELLO, {}))
    try:
        passes = place = 0
        while place < 3 or (not passes and place < MOST_GAMES):  # it does not repeat itself
            opening = ((), (19, 18, 26), (44, 45, 37, 29))[place % 3]
            table = Table(OTHELLO, wire, (player + place) % 2, opening).play()
            assert OTHELLO.over(table.positions[-1])
            passes += sum(ply.move == OTHELLO.pass_move for ply in table.plies)
            place += 1
        assert passes
        assert len(rhino.starts) == 1
        assert not [note for note in wire.notes if "again" in note]
        wire.run(wire.talk.bye())
    finally:
        rhino.close()


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
def test_rhino_and_our_own_engine_play_a_whole_match(tmp_path):
    path = tmp_path / "match.toml"
    path.write_text(MATCH.format(python=sys.executable, root=ROOT))
    words = [str(path), "--results", str(tmp_path), "--quiet", "--workers", "1"]
    assert arena_run(words) == OK
    (table,) = tmp_path.rglob("games.parquet")
    games = pandas.read_parquet(table)
    assert len(games) == 4
    assert set(games.termination) == {"normal"}
