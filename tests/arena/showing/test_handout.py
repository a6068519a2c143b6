"""A page for the author of each bot: what it says, and what it must not hold."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.commands import handouts, run
from arena.report.data import GameChunk, GameTable
from arena.report.handout import MOST_LOST, AgentResults, LostGame
from games import replay
from games.base.errors import OK, USER_ERROR

EXPERIMENT = """
game = "kalah(4,3)"
pairs = 4
unloadable = "forfeit"
[agents.first]
kind = "first"
[agents."b|d"]
kind = "lines"
command = ["sh", "-c", "read question; echo 99"]
[agents.random]
kind = "random"
"""


def pages(tmp_path, text=EXPERIMENT) -> dict[str, str]:
    """The pages of a small run, by their names."""
    (tmp_path / "e.toml").write_text(text)
    words = [str(tmp_path / "e.toml"), "--results", str(tmp_path), "--quiet", "--workers", "1"]
    assert run.main(words) == OK
    (table,) = tmp_path.rglob("games.parquet")
    assert handouts.main([str(table.parent)]) == OK
    return {path.name: path.read_text() for path in (table.parent / "handouts").iterdir()}


def test_each_author_gets_a_page_of_the_own_bot(tmp_path, capsys):
    found = pages(tmp_path)
    assert set(found) == {"1-first.md", "2-b_d.md", "3-random.md"}
    bad, first = found["2-b_d.md"], found["1-first.md"]
    assert "place 3 of 3, 0 points of 16 games" in bad
    assert "| first | 8 | 0 | 0 | 8 |" in bad
    assert "(illegal), 3 times; first game" in bad
    assert "13 games forfeited unplayed after its exclusion" in bad
    assert 'answered "99"' in bad
    assert "It lost no game by a fault." in first
    assert "| b\\|d | 8 | 8 | 0 | 0 |" in first
    assert 'answered "99"' not in first
    assert re.search(r"Its longest thought took \d+\.\d{3} s\.", first)
    (command, *_) = re.findall(r"`([^`]+)`", found["3-random.md"] + first)
    capsys.readouterr()
    assert replay.main(shlex.split(command)[3:]) == OK


RAISES = """
def choose(view, legal, rng):
    if len(legal) < 3:
        raise OSError(__file__, "and", "/opt/others/lib.py")
    return legal[0]
"""


LINE = """
import sys
for line in sys.stdin:
    legal = line.split(";")[1].split()
    if len(legal) < 3:
        raise OSError(sys.executable)
    print(legal[0], flush=True)
"""
FAULTY = """
game = "kalah(4,3)"
pairs = 4
[agents]
random = { kind = "random" }
raises = { kind = "python", file = "bots/raises.py" }
line = { kind = "lines", command = ["python3", "bots/line.py"] }
"""


def test_no_page_holds_a_path_of_this_machine(tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "raises.py").write_text(RAISES)
    (tmp_path / "bots" / "line.py").write_text(LINE)
    found = pages(tmp_path, FAULTY)
    assert "bots/raises.py" in found["2-raises.md"]
    assert "python -m games.replay" in found["2-raises.md"]
    assert "line 6, in <module>" in found["3-line.md"]
    for page in found.values():
        for path in (str(tmp_path), str(Path.home()), sys.executable, sys.prefix, "/opt/others"):
            assert path not in page


def test_what_is_no_run_is_one_line(tmp_path, capsys):
    assert handouts.main([str(tmp_path)]) == USER_ERROR
    assert "is not a run's directory" in capsys.readouterr().err


def random_games(count, piece):
    """Games of three agents in pieces, and the same row by row."""
    rng = np.random.default_rng(1)
    first = rng.integers(3, size=count)
    second = (first + 1 + rng.integers(2, size=count)) % 3
    result, none = rng.integers(3, size=count) / 2, np.zeros(count, np.int64)
    plies, ending = rng.integers(5, 9, size=count), rng.integers(3, size=count)
    whole = GameChunk(first, second, none, none, result, none, plies, ending, first)
    parts = [slice(at, at + piece) for at in range(0, count, piece)]
    games = GameTable(
        count, ("a", "b", "c"), ("normal", "illegal", "resigned"),
        lambda: (whole.at(np.arange(count)[part]) for part in parts), lambda _, __: None,
    )  # fmt: skip
    columns = (first, second, result, plies, ending)
    return games, list(zip(*(each.tolist() for each in columns), strict=True))


@pytest.mark.parametrize("piece", [7, 200])
def test_what_is_summed_up_piece_by_piece_is_what_a_loop_finds(piece):
    games, rows = random_games(200, piece)
    stored = AgentResults(games)
    for agent in range(3):
        own = [(row, *each) for row, each in enumerate(rows) if agent in each[:2]]
        scores, lost, faults = np.zeros((3, 3), int), [], {}
        for row, first, second, result, plies, ending in own:
            other = second if agent == first else first
            points = result if agent == first else 1 - result
            scores[other, round(2 - 2 * points)] += 1
            if points == 0 and ending == 0:
                lost.append(LostGame(plies, row, other))
            if points == 0 and ending == 1:
                faults.setdefault(ending, []).append(LostGame(plies, row, other))
        assert stored.scores[agent].tolist() == scores.tolist()
        assert stored.lost[agent] == sorted(lost)[:MOST_LOST]
        said = {how: (each.times, each.first) for how, each in stored.faults[agent].items()}
        assert said == {how: (len(each), each[0]) for how, each in faults.items()}
