"""A page for the author of each bot: what it says, and what it must not hold."""

import re
import shlex

from arena import handouts, run
from games import replay
from games.terminal import DONE, MISTAKE

EXPERIMENT = """
game = "kalah(4,3)"
pairs = 4
[agents.first]
kind = "first"
[agents."b|d"]
kind = "lines"
command = ["sh", "-c", "read question; echo 99"]
[agents.random]
kind = "random"
"""


def pages(tmp_path) -> dict[str, str]:
    """The pages of a small run, by their names."""
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    words = [str(tmp_path / "e.toml"), "--results", str(tmp_path), "--quiet", "--workers", "1"]
    assert run.main(words) == DONE
    (table,) = tmp_path.rglob("games.parquet")
    assert handouts.main([str(table.parent)]) == DONE
    return {path.name: path.read_text() for path in (table.parent / "handouts").iterdir()}


def test_each_author_gets_a_page_of_the_own_bot(tmp_path, capsys):
    found = pages(tmp_path)
    assert set(found) == {"1-first.md", "2-b_d.md", "3-random.md"}
    bad, first = found["2-b_d.md"], found["1-first.md"]
    assert "place 3 of 3, 0 points of 16 games" in bad
    assert "| first | 8 | 0 | 0 | 8 |" in bad
    assert "- illegal, 16 times; first game" in bad
    assert 'answered "99"' in bad
    assert "It lost no game by a fault." in first
    assert "| b\\|d | 8 | 8 | 0 | 0 |" in first
    assert 'answered "99"' not in first
    assert re.search(r"Its longest thought took \d+\.\d{3} s\.", first)
    (command, *_) = re.findall(r"`([^`]+)`", found["3-random.md"] + first)
    capsys.readouterr()
    assert replay.main(shlex.split(command)[3:]) == DONE


def test_what_is_no_run_is_one_line(tmp_path, capsys):
    assert handouts.main([str(tmp_path)]) == MISTAKE
    assert "is not a run's directory" in capsys.readouterr().err
