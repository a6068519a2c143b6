"""The pages for authors of bots: their contents, and no secrets of others."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.commands.registry import run_verb
from arena.report.bot_reports import (
    MOST_LOST_GAMES,
    AgentResults,
    LostGame,
    first_errors,
    without_code,
)
from arena.report.data import GameChunk, GameTable
from games.base.errors import OK, USER_ERROR
from tests.arena.report.pages import data_of, text_of
from tests.commands import report, run

EXPERIMENT = """
game = "kalah(4,3)"
pairs = 4
[agents.first]
kind = "first"
[agents.random]
kind = "random"
[roster]
directory = "bots"
"""
BAD = 'kind = "lines"\ncommand = ["sh", "-c", "read question; echo 99"]\n'


def pages(tmp_path, text=EXPERIMENT) -> dict[str, str]:
    (tmp_path / "e.toml").write_text(text)
    (tmp_path / "bots" / "b|d").mkdir(parents=True)
    (tmp_path / "bots" / "b|d" / "bot.toml").write_text(BAD)
    words = [str(tmp_path / "e.toml"), "--results", str(tmp_path), "--quiet", "--workers", "1"]
    assert run(words) == OK
    (table,) = tmp_path.rglob("games.parquet")
    assert report([str(table.parent), "--bots"]) == OK
    return {path.name: path.read_text() for path in (table.parent / "bot-reports").iterdir()}


def test_each_bot_has_a_page(tmp_path, capsys):
    found = pages(tmp_path)
    assert set(found) == {"1-b_d.html", "2-first.html", "3-random.html"}
    bad, first = text_of(found["1-b_d.html"]), text_of(found["2-first.html"])
    assert "Place 3 of 3" in bad and "0 points of 16 games" in bad
    assert re.search(r"first\s+8\s+0\s+0\s+8", bad)
    assert re.search(r'illegal\s+answered "99"[^\n]*?\s3\s', bad)
    assert "13 games forfeited unplayed after its exclusion" in bad
    assert "It lost no game by a fault." in first
    assert re.search(r"b\|d\s+8\s+8\s+0\s+0", first)
    assert 'answered "99"' not in first
    assert re.search(r"Its longest move took \d+\.\d{3} s\.", first)


def test_the_lost_games_are_on_the_board(tmp_path, capsys):
    found = pages(tmp_path)
    data = data_of(found["3-random.html"])
    lost = [data["r"][at] == 2 * (data["agents"][data["s"][at]] == "random")
            for at in range(len(data["n"]))]  # fmt: skip
    assert 0 < len(lost) <= MOST_LOST_GAMES and all(lost)
    capsys.readouterr()
    words = shlex.split(f'{data["command"]}"{data["moves"][0]}"')
    assert run_verb("game", words[2:]) == OK


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


def test_no_page_has_a_path_of_this_machine(tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "raises.py").write_text(RAISES)
    (tmp_path / "bots" / "line.py").write_text(LINE)
    found = pages(tmp_path, FAULTY)
    assert "bots/raises.py" in found["2-raises.html"]
    assert " replay " in found["2-raises.html"]
    assert "line 6, in &lt;module&gt;" in found["3-line.html"]
    for page in found.values():
        for path in (str(tmp_path), str(Path.home()), sys.executable, sys.prefix, "/opt/others"):
            assert path not in page


MARKUP = """
def choose(view, legal, rng):
    if len(legal) < 3:
        raise ValueError("</pre><script>alert(1)</script>")
    return legal[0]
"""


def test_the_log_of_a_bot_is_no_markup(tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "raises.py").write_text(MARKUP)
    (tmp_path / "bots" / "line.py").write_text(LINE)
    page = pages(tmp_path, FAULTY)["2-raises.html"]
    assert "alert(1)" in page and "<script>alert" not in page


def test_a_public_page_has_no_code():
    text = "raised ValueError: no idea: x, line 3 of bot.py: raise ValueError('secret')"
    assert without_code(text) == "raised ValueError: no idea: x, line 3 of bot.py"
    log = f"game 12, against a: raised: raised: {text}\nraised\ngame 13, against a: raised\n"
    assert first_errors(log) == {(12, "raised"): f"raised: {text}"}


def test_a_directory_without_a_run_is_a_one_line_error(tmp_path, capsys):
    assert report([str(tmp_path), "--bots"]) == USER_ERROR
    assert "is not a run's directory" in capsys.readouterr().err


def random_games(count, piece):
    """Return games of three agents in chunks, and the same games as rows."""
    rng = np.random.default_rng(1)
    first = rng.integers(3, size=count)
    second = (first + 1 + rng.integers(2, size=count)) % 3
    result, none = rng.integers(3, size=count) / 2, np.zeros(count, np.int64)
    plies, ending = rng.integers(5, 9, size=count), rng.integers(3, size=count)
    whole = GameChunk(first, second, none, none, result, none, plies, ending, first)
    parts = [slice(at, at + piece) for at in range(0, count, piece)]
    games = GameTable(
        count, ("a", "b", "c"), ("normal", "illegal", "resigned"),
        lambda: (whole.take(np.arange(count)[part]) for part in parts), lambda _, __: None,
    )  # fmt: skip
    columns = (first, second, result, plies, ending)
    return games, list(zip(*(each.tolist() for each in columns), strict=True))


@pytest.mark.parametrize("piece", [7, 200])
def test_sums_over_chunks_equal_a_naive_loop(piece):
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
        assert stored.lost[agent] == sorted(lost)[:MOST_LOST_GAMES]
        said = {how: (each.times, each.first) for how, each in stored.faults[agent].items()}
        assert said == {how: (len(each), each[0]) for how, each in faults.items()}
