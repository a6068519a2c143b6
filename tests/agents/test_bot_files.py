"""A bot's file in any language, and the words of a command line that mean an agent."""

import shutil
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, SpecError
from agents.languages import LANGUAGES
from agents.spec import bot_spec, spec_from_text
from games import game
from tests.agents.given import ROOT
from tests.agents.hosted import hosted, played

BOTS = ROOT / "experiments" / "bots"
# The same player in every language; the shell's takes the last move.
SAME = ("line_bot.py", "line_bot.js", "line_bot.c", "LineBot.java")
KALAH = game("kalah(6,4)")
OTHELLO = game("othello(4)")


def runs(name: str) -> bool:
    """Whether the machine has what runs or compiles a file."""
    language = LANGUAGES[name[name.index(".") :]]
    return bool(shutil.which((language.compiles or language.runs)[0]))


def missing(name: str):
    """A file as a parameter, skipped where its interpreter is missing."""
    reason = f"nothing here runs {name}"
    marks = [pytest.mark.skipif(not runs(name), reason=reason)]
    marks += [pytest.mark.slow] * name.endswith(".java")  # it is compiled each time it starts
    return pytest.param(name, marks=marks)


def games_of(name: str) -> list[list[int]]:
    """A game from either side, and one of another game."""
    spec, games = bot_spec(BOTS / name), []
    assert spec.kind == "lines"
    for of, player in ((KALAH, 0), (KALAH, 1), (OTHELLO, 0)):
        with hosted("lines", of, command=list(spec.options["command"])) as agent:
            games.append(played(agent, of, player))
    return games


@pytest.mark.parametrize("name", [missing(name) for name in SAME[1:]])
def test_the_examples_play_the_same_games_in_every_language(name):
    assert games_of(name) == games_of(SAME[0])


@pytest.mark.parametrize("name", [missing("line_bot.sh")])
def test_the_shortest_example_takes_the_last_move(name):
    for moves in games_of(name):
        assert moves


def test_every_example_is_tried():
    there = {path.name for path in BOTS.glob("[lL]ine*")}
    assert there == {*SAME, "line_bot.sh"}


def test_a_file_of_python_is_a_bot_of_python_or_speaks_lines(tmp_path):
    texts = {
        "f.py": "def choose(view, legal, rng): ...",
        "c.py": "class A: ...\nclass Mine:\n    def choose(self, view, legal, rng): ...",
        "broken.py": "def choose(:",
        "p.py": "print(1)",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert bot_spec(tmp_path / "f.py") == AgentSpec("python", file=f"{tmp_path}/f.py:choose")
    assert bot_spec(tmp_path / "c.py") == AgentSpec("python", file=f"{tmp_path}/c.py:Mine")
    assert bot_spec(tmp_path / "broken.py").kind == "python"
    assert bot_spec(tmp_path / "p.py") == AgentSpec("lines", command=[f"{tmp_path}/p.py"])


def test_a_path_through_the_directory_above_means_the_file_there(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(BOTS / "line_bot.py", tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    spec = bot_spec(Path("../line_bot.py"))
    with hosted("lines", KALAH, command=list(spec.options["command"])) as agent:
        assert played(agent, KALAH, 0)


@pytest.mark.skipif(not runs("a.c"), reason="there is no C compiler here")
def test_what_does_not_compile_cannot_be_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "bad.c").write_text("int main(void) { retrun 0; }\n")
    command = bot_spec(tmp_path / "bad.c").options["command"]
    with (
        pytest.raises(AgentFailure, match="cannot be compiled") as failed,
        hosted("lines", KALAH, command=list(command)),
    ):
        pass
    assert "retrun" in str(failed.value)
    assert not [path for path in tmp_path.rglob("*bad*") if path.name != "bad.c"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nowhere.js", "there is no file"),
        ("README.md", "its ending names no language"),
        ("gtp", "its command behind the protocol"),
        ('lines "half', "cannot be read"),
        ("no.toml:smart", "cannot be read"),
        ("experiments/own_bot.toml:mina", 'did you mean "mine"'),
        ("smrt", 'did you mean "smart"'),
    ],
)
def test_a_word_that_means_no_agent(word, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SpecError, match=message):
        spec_from_text(word, {})


def test_words_that_mean_agents(monkeypatch):
    monkeypatch.chdir(ROOT)
    mine = spec_from_text("experiments/own_bot.toml:mine", {})
    assert mine == AgentSpec("python", file=f"{BOTS}/my_bot.py:choose")
    engine = spec_from_text("gtp gtp-rhino -l 1", {})
    assert engine == AgentSpec("gtp", command=["gtp-rhino", "-l", "1"])
    lines = spec_from_text("lines sh experiments/bots/line_bot.sh", {})
    assert lines.options["command"] == ("sh", f"{BOTS}/line_bot.sh")
    ladder = spec_from_text("experiments/smart_vs_bad.toml:smart", {"depth": 3})
    assert ladder.options["depth"] == 3
    assert "nodes" not in ladder.options
