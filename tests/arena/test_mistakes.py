"""Mistakes on the command line: one line that names the problem, and status 2."""

import pytest

from arena.commands.registry import run_verb
from games.base.errors import USER_ERROR

FINISHED = "S 0 0 0, N 0 0 0, pots 2-10, South to move"
MISTAKES = {
    "match": [
        (["smrt", "random"], 'did you mean "smart"?'),
        (["nowhere.py", "random"], "there is no file"),
        (["greedy", "random", "--game", "kalahh"], 'did you mean "kalah"?'),
        (["greedy", "random", "--sprt", "20", "10"], "elo0 < elo1"),
        (["greedy"], "OPPONENT"),
    ],
    "new": [
        (["experiment", "--like", "smart_vs_bed"], 'did you mean "smart_vs_bad"?'),
        (["bot", "--like", "smart_vs_bad"], "--like is for: pitflip new experiment"),
        (["bot", "a b\x1b"], "a name has letters, digits, _ and -, got"),
    ],
    "play": [
        (["kalahh"], 'there is no game "kalahh"'),
        (["kalah(99,1)"], "holes must be a whole number from 1 to 16"),
        (["kalah", "--second", "smrt"], 'there is no agent kind "smrt"'),
        (["othello", "--second", "fewest"], "fewest does not play othello(8)"),
        (["kalah", "--second", "python"], "write the file of your bot instead of python"),
        (["kalah", "--second", "nowhere.py"], "there is no file"),
        (["kalah", "--second", "nowhere.py:evaluate"], "there is no file"),
        (["kalah", "--depth", "0"], 'depth must be a whole number from 1 to 100, got "0"'),
        (["kalah", "--depth", "x"], '--depth must be a whole number from 1 to 100, got "x"'),
        (["kalah", "--seconds", "0"], "--seconds must be a time such as"),
        (["kalah", "--nodes", "-3"], "nodes must be a whole number"),
        (["kalah", "--depth", "3", "--nodes", "4"], "not allowed with argument"),
        (["kalah", "--second", "greedy", "--depth", "3"], "--depth is for agents that search"),
        (["kalah", "--names", "Ada"], "argument --names: expected 2 arguments"),
        (["kalah", "--level", "3"], "unrecognized arguments: --level 3"),
        (["kalah", "--seed", "x"], '--seed must be a whole number of at least 0, got "x"'),
        (["kalah(3,2)", "--start", "S 1"], "a position is written like"),
        (["kalah(3,2)", "--start", FINISHED], "the game is over in"),
        (["kalah(4,3)", "--side", "west"], "--side must be one of South, North, got"),
        (["othello(4)", "--side", "o"], "in othello(4) X moves first here by the rules"),
        ([], "the following arguments are required: GAME"),
    ],
    "game": [
        (["kalah(3,2)", "explain", "--agent", "smrt"], 'did you mean "smart"?'),
        (["kalah(3,2)", "explain", "--agent", "human"], "choose an agent with --agent"),
        (["kalah(3,2)", "explain", "9"], '"9" is unreadable'),
        (["kala(3,2)", "explain"], "kala"),
        (["kalah(3,2)", "explain", "--depth", "0"], "--depth must be"),
        (["kalah(3,2)", "explain", "--depth", "2.5"], "--depth must be a whole number"),
        (["kalah(3,2)", "explain", "--agent", "first", "--depth", "2"], "for agents that search"),
        (["kalah(3,2)", "explain", "--solve-seconds", "x"], "--solve-seconds must be a time"),
        (["/nowhere#1@2", "explain"], "is not a run's directory"),
        (["kalah(1,1)", "explain", "1"], "the game is over"),
    ],
    "rate": [
        (["nowhere.csv", "--bootstrap", "50"], "--bootstrap must be 0 or from 100"),
        (["nowhere.csv"], "there is no such file"),
        (["."], "expected that of a run"),
        (["x.csv", "--method", "bradley"], "--method was removed"),
    ],
}


@pytest.mark.parametrize(
    ("verb", "words", "message"),
    [(verb, words, message) for verb, rows in MISTAKES.items() for words, message in rows],
)
def test_mistake_is_one_line(verb, words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_verb(verb, words) == USER_ERROR
    shown = capsys.readouterr()
    (line,) = [each for each in shown.err.splitlines() if "compiling for this" not in each]
    assert line.startswith((f"pitflip {verb}", "["))  # tables of a match name the table
    assert message in line
    assert "\x1b" not in line
    assert shown.out == ""
    assert not list(tmp_path.iterdir())
