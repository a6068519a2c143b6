"""The command that solves a position."""

import json
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from games import game, solve
from games.base import progress
from games.base.errors import OK, UNFINISHED, USER_ERROR
from games.solving import solver
from tests.forked import in_fork
from tests.games.naive import full_search, sowing

ROOT = Path(__file__).parents[2]
RULES = sowing.Rules(3, 2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(solve, "LARGE_TABLE", solve.USUAL_TABLE)  # 256 MB take a quarter second


def solved(capsys, *words: str) -> dict:
    """The JSON that the command prints."""
    assert solve.main([*words, "--json"]) == OK
    return json.loads(capsys.readouterr().out)


def test_outcome_margin_and_every_move_are_those_of_naive_search(capsys):
    found, wanted = solved(capsys, "kalah(3,2)"), full_search.values(sowing.start(RULES))
    best = max(wanted.values())
    assert (found["outcome"], found["margin"], found["exact"]) == ("win", best, True)
    assert [each["move"] for each in found["moves"]] == ["1", "2", "3"]
    assert [each["margin"] for each in found["moves"]] == [wanted[move] for move in range(3)]
    assert all(each["exact"] for each in found["moves"])


def test_the_line_is_best_play_to_the_end(capsys):
    of, found = game("kalah(3,2)"), solved(capsys, "kalah(3,2)")
    positions = of.replay(" ".join(found["line"]))
    assert of.over(positions[-1])
    assert of.margin(positions[-1]) == found["margin"]


def test_norths_moves_stand_in_the_order_of_the_board(capsys):
    found = solved(capsys, "kalah(3,2)", "2 1")
    assert "North to move" in found["position"]
    numbers = [int(each["move"]) for each in found["moves"]]
    assert numbers == sorted(numbers)
    best = [each["move"] for each in found["moves"] if each["margin"] == found["margin"]]
    assert found["line"][0] == best[0]


def test_moves_and_the_position_they_lead_to_are_one_question(capsys):
    by_moves = solved(capsys, "kalah(3,2)", "3 1")
    by_text = solved(capsys, "kalah(3,2)", by_moves["position"])
    assert by_moves | {"seconds": 0} == by_text | {"seconds": 0}


def test_the_outcome_is_printed_before_the_margin(capsys):
    assert solve.main(["kalah(3,2)"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("kalah(3,2), South to move: win")
    assert lines[1].startswith("margin +4")
    assert [line.split() for line in lines[2:5]] == [["1", "-8"], ["2", "+4", "best"], ["3", "+0"]]
    assert lines[5].startswith("line: 2")


def test_a_limit_leaves_honest_bounds(capsys, monkeypatch):
    monkeypatch.setattr(solver, "SLICE", 1 << 12)  # the limit is long over after the first
    words = ["kalah(6,4)", "--seconds", "0.02", "--database-beans", "2"]
    assert solve.main([*words, "--json"]) == UNFINISHED
    found = json.loads(capsys.readouterr().out)
    assert found["margin"] is None
    assert not found["exact"]
    assert found["low"] <= 8 <= found["high"]
    assert solve.main(words) == UNFINISHED
    assert "between" in capsys.readouterr().out


def test_what_cannot_be_hoped_for_is_said(capsys):
    assert solve.main(["kalah(7,7)", "--seconds", "0.01", "--database-beans", "2"]) == UNFINISHED
    assert "98 beans in play are hopeless" in capsys.readouterr().err


def test_what_cannot_be_solved_is_refused_without_a_time(capsys):
    assert solve.main(["kalah(7,7)"]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert "98 beans in play are hopeless" in line
    assert "--seconds" in line


def test_a_search_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.01)
    words = ["kalah(6,4)", "--seconds", "0.5", "--database-beans", "2"]
    assert solve.main(words) == UNFINISHED
    assert "M positions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["kalah(3,2)", "9"], '"9" is unreadable; legal: 1 2 3'),
        (["kalah(3,2)", "S 1 1"], "a position is written like"),
        (["kalah(3,2)", "--seconds", "no"], "--seconds must be a number above 0"),
        (["kalah(3,2)", "--database-beans", "99"], "must be a whole number from 0 to 30"),
    ],
)
def test_a_mistake_is_one_line(capsys, words, part):
    assert solve.main(words) == USER_ERROR
    assert part in capsys.readouterr().err


def test_a_finished_game_has_its_score(capsys):
    found = solved(capsys, "kalah(3,2)", "S 0 0 0, N 0 0 0, pots 8-4, South to move")
    assert (found["outcome"], found["margin"], found["moves"], found["line"]) == ("win", 4, [], [])


def test_a_users_game_is_solved(capsys):
    path = ROOT / "experiments/games/connect4.py"
    found = solved(capsys, f"{path}:connect4(4,4)", "1 2 1 2 2 1 2 1")
    assert found["outcome"] is not None
    assert found["exact"]


def test_ctrl_c_keeps_what_was_proved():
    words = ["kalah(7,7)", "--json", "--seconds", "600", "--database-beans", "2"]
    command = in_fork(partial(solve.main, words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = subprocess.Popen(text=True, **command)
    assert "hopeless" in started.stderr.readline()
    while "building" not in (line := started.stderr.readline()):
        assert line, "it ended before the search"
    started.send_signal(signal.SIGINT)  # who is told of the building is heard, however soon
    told, said = started.communicate(timeout=60)
    assert json.loads(told)["exact"] is False
    assert "stopped after" in said
    assert started.returncode == UNFINISHED
