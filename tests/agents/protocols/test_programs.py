"""Hosting programs that are not ours, where they are installed."""

import shutil

import pytest

from agents.protocols import gtp
from games import game
from tests.agents.protocols.wire import Program, Table, Wire

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
