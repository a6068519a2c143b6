"""The command `pitflip game ... explain`."""

import pytest

from agents.core import AgentSpec, Choice
from agents.sandbox import bot_server
from arena.terminal.explanation import ExplainedPosition, game_move_line
from games import game
from games.base import progress
from games.base.errors import OK, USER_ERROR
from tests.arena.running import experiment_file, only_run, run_experiment_file
from tests.commands import explain as main

QUICK = ("--solve-seconds", "0")


def rows(text: str) -> dict[str, list[str]]:
    """The words of each move's line by the move; the chosen one without its mark."""
    lines = text.partition("\n  move ")[2].split("\n")[1:]
    table = lines[: next(n for n, line in enumerate(lines) if line.startswith("score:"))]
    return {line.split()[0].removeprefix("*"): line.split()[1:] for line in table}


def test_options_may_stand_between_the_words(capsys):
    said = []
    for words in (
        ["kalah(3,2)", "2", "--agent", "greedy"],
        ["kalah(3,2)", "--agent", "greedy", "2"],
    ):
        assert main([*words, "--solve-seconds", "0"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_a_position_of_a_game_is_explained_with_perfect_values_beside_it(capsys):
    assert main(["kalah(3,2)", "2", "--agent", "smart"]) == OK
    text = capsys.readouterr().out
    assert "South to move: smart plays 3" in text  # 2 was an extra turn
    assert rows(text)["3"][:2] == ["wins", "+4"]
    assert "perfect play: win, +4" in text
    assert "\n  1 " in text.partition("perfect play")[2]
    assert "static evaluation of the position: " in text


def test_place_in_a_run_is_explained_by_its_mover(tmp_path, capsys):
    file = experiment_file(
        tmp_path,
        'game = "kalah(3,2)"\npairs = 2\nopenings = { random_plies = 2 }\n'
        'agents.one = { kind = "minimax", depth = 2 }\nagents.two = { kind = "first" }\n',
    )
    run_experiment_file(file, tmp_path / "results", workers=1)
    run = only_run(tmp_path / "results")
    capsys.readouterr()
    assert main([f"{run}#1@2", *QUICK]) == OK
    shown = capsys.readouterr().out
    assert "one plays " in shown or "two plays " in shown
    assert main([f"{run}#1@2", "--agent", "one", "--depth", "4", *QUICK]) == OK
    assert all("4" in words[1:3] for words in rows(capsys.readouterr().out).values())
    for place, message in {
        "9@1": "the game must be a whole number from 0 to 3",
        "0@99": "the ply must be a whole number from 0 to",
        "x": "the game must be a whole number",
    }.items():
        assert main([f"{run}#{place}", *QUICK]) == USER_ERROR
        assert message in capsys.readouterr().err
    for ply, verb in ((0, "would play"), (1, "would play"), (2, "plays")):
        assert main([f"{run}#1@{ply}", "--agent", "one", *QUICK]) == OK
        shown = capsys.readouterr().out
        assert f"one {verb} " in shown
        assert ("belongs to the opening" in shown) == (ply < 2)
    assert main([f"{run}#1@2", "--agent", "tow"]) == USER_ERROR
    assert 'did you mean "two"?' in capsys.readouterr().err


def test_an_own_evaluation_is_explained_in_a_run_at_the_depth_that_it_played(tmp_path, capsys):
    (tmp_path / "own.py").write_text(
        "from agents.features.sowing import pot\n"
        "def evaluate(rules, position):\n    return pot(rules, position)\n"
    )
    file = experiment_file(
        tmp_path,
        'game = "kalah(6,4)"\npairs = 1\nopenings = { random_plies = 2 }\n'
        'agents.one = { kind = "alphabeta", depth = 6, evaluate = "own.py" }\n'
        'agents.two = { kind = "first" }\n',
    )
    run_experiment_file(file, tmp_path / "results", workers=1)
    place = f"{only_run(tmp_path / 'results')}#0@2"
    capsys.readouterr()
    tables = []
    for words in ((), ("--depth", "6")):  # which is the default that the stored plan leaves out
        assert main([place, "--agent", "one", *words, *QUICK]) == OK
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert all(words[1] == "6" for words in rows(tables[0]).values())
    assert main([place.replace("@2", "@3"), *QUICK]) == OK
    assert "in the game" not in tables[0] + capsys.readouterr().out  # it plays what it played


def test_a_forced_pass_is_the_only_move(capsys):
    pass_ = "XXO-XXOOOXOOXXXX O"
    assert main(["othello(4)", pass_, "--agent", "minimax", "--depth", "3", *QUICK]) == OK
    text = capsys.readouterr().out
    assert rows(text)["pass"][:2] == ["loses", "-12"]
    assert "rule: the only legal move" in text


def test_bots_and_user_evaluations_are_explained_in_the_sandbox(tmp_path, capsys):
    bot = tmp_path / "bot.py"
    bot.write_text("def choose(view, legal, rng):\n    return legal[-1]\n")
    assert main(["kalah(3,2)", "", "--agent", str(bot), *QUICK]) == OK
    text = capsys.readouterr().out
    assert "plays 3" in text
    assert "unknown: the agent reports neither values nor its rule" in text
    own = tmp_path / "own.py"
    own.write_text(
        "from agents.features.sowing import pot\n"
        "def evaluate(rules, position):\n    return pot(rules, position)\n"
    )
    assert main(["kalah(3,2)", "", "--agent", f"{own}:evaluate", "--depth", "2", *QUICK]) == OK
    text = capsys.readouterr().out
    assert "which has no terms" in text
    assert all(words[1] == "2" for words in rows(text).values())
    assert main(["kalah(6,4)", "", "--agent", f"{own}:evaluate", "--nodes", "500", *QUICK]) == OK
    text = capsys.readouterr().out
    table = rows(text)
    chosen = text.partition("\n    *")[2].split()[0]
    assert len({words[1] for words in table.values()}) == 1
    assert float(table[chosen][0]) == max(
        float(words[0].removeprefix("<=")) for words in table.values()
    )
    assert "rule: the highest value" in text


def test_what_searches_single_moves_is_loaded_before_the_bot_starts(monkeypatch):
    searched = []
    monkeypatch.setattr(bot_server, "search_one_move", lambda agent, of: searched.append(of.name))
    of, spec = game("kalah(3,2)"), AgentSpec("alphabeta", evaluate="own.py:evaluate")
    bot_server.prepare(spec, of, thoughts=False)
    assert not searched
    bot_server.prepare(spec, of, thoughts=True)
    assert searched == ["kalah(3,2)"]


def test_a_misspelt_evaluation_is_named_in_place_of_its_limit(tmp_path, capsys):
    own = tmp_path / "own.py"
    own.write_text("def evaluate(rules, position):\n    return 0\n")
    words = ["kalah(3,2)", "", "--agent", f"{own}:evalute", "--nodes", "50"]
    assert main(words) == USER_ERROR
    shown = capsys.readouterr().err
    assert "own.py has no evalute" in shown
    assert 'did you mean "evaluate"?' in shown


LONG = """import time
time.sleep(0.5)
def choose(view, legal, rng):
    time.sleep(0.5)
    return rng.choice(legal)
"""


def test_slow_explanation_shows_progress(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.05)
    (tmp_path / "long.py").write_text(LONG)
    assert main(["kalah(3,2)", "2", "--agent", str(tmp_path / "long.py"), *QUICK]) == OK
    told = capsys.readouterr().err
    assert "getting ready, " in told
    assert "thinking, " in told


def test_random_move_is_not_called_another_choice(tmp_path):
    of = game("kalah(3,2)")
    for spec, chance in ((AgentSpec("random"), True), (AgentSpec("greedy"), False)):
        asked = ExplainedPosition(of, of.start(), "it", spec, game_move=of.legal(of.start())[0])
        line = game_move_line(asked, Choice(of.legal(of.start())[1]))
        assert ("random choices" in line) == chance


@pytest.mark.parametrize("limit", [50, 777, 3000])
@pytest.mark.parametrize("name", ["kalah(6,4)", "othello(6)"])
def test_a_limit_in_nodes_is_passed_by_a_few_positions_only(name, limit, capsys):
    assert main([name, "", "--nodes", str(limit), "--solve-seconds", "0"]) == OK
    (headline,) = (line for line in capsys.readouterr().out.splitlines() if " plays " in line)
    nodes = int(headline.rpartition("after ")[2].split()[0].replace(",", ""))
    assert limit < nodes <= limit + 20
