"""Bot files in any language, and command-line words for agents."""

import shutil
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, SpecError
from agents.languages import LANGUAGES, InterpreterMissing, shebang_command
from agents.spec import bot_spec, spec_from_text
from games import game
from tests.agents.helpers import ROOT
from tests.agents.programs import host_program, play_moves

BOTS = ROOT / "experiments" / "bots"
# The same player in every language; the shell's takes the last move.
SAME = ("line_bot.py", "line_bot.js", "line_bot.c", "LineBot.java")
KALAH = game("kalah(6,4)")
OTHELLO = game("othello(4)")


def runs(name: str) -> bool:
    """Return whether this machine can run or compile a file."""
    language = LANGUAGES[name[name.index(".") :]]
    return bool(shutil.which((language.compile_command or language.run_command)[0]))


def missing(name: str):
    reason = f"nothing here runs {name}"
    marks = [pytest.mark.skipif(not runs(name), reason=reason)]
    marks += [pytest.mark.slow] * name.endswith(".java")  # it is compiled each time it starts
    return pytest.param(name, marks=marks)


def games_of(name: str) -> list[list[int]]:
    spec, games = bot_spec(BOTS / name), []
    assert spec.kind == "lines"
    for of, player in ((KALAH, 0), (KALAH, 1), (OTHELLO, 0)):
        with host_program("lines", of, command=list(spec.options["command"])) as agent:
            games.append(play_moves(agent, of, player))
    return games


@pytest.mark.parametrize("name", [missing(name) for name in SAME[1:]])
def test_examples_play_equal_games_in_every_language(name):
    assert games_of(name) == games_of(SAME[0])


@pytest.mark.parametrize("name", [missing("line_bot.sh")])
def test_shell_example_plays(name):
    for moves in games_of(name):
        assert moves


def test_all_examples_are_covered():
    there = {path.name for path in BOTS.glob("[lL]ine*")}
    assert there == {*SAME, "line_bot.sh"}


def test_kind_of_python_file_depends_on_content(tmp_path):
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


def test_parent_path_is_resolved(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(BOTS / "line_bot.py", tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    spec = bot_spec(Path("../line_bot.py"))
    with host_program("lines", KALAH, command=list(spec.options["command"])) as agent:
        assert play_moves(agent, KALAH, 0)


@pytest.mark.skipif(not runs("a.c"), reason="there is no C compiler here")
def test_compile_error_of_c_is_unloadable(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "bad.c").write_text("int main(void) { retrun 0; }\n")
    command = bot_spec(tmp_path / "bad.c").options["command"]
    with (
        pytest.raises(AgentFailure, match="cannot be compiled") as failed,
        host_program("lines", KALAH, command=list(command)),
    ):
        pass
    assert "retrun" in str(failed.value)
    assert not [path for path in tmp_path.rglob("*bad*") if path.name != "bad.c"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nowhere.js", "there is no file"),
        ("README.md", "its suffix belongs to no known language"),
        ("gtp", "its command behind the protocol"),
        ('lines "half', "cannot be read"),
        ("no.toml:smart", "cannot be read"),
        ("experiments/own_bot.toml:mina", 'did you mean "mine"'),
        ("smrt", 'did you mean "smart"'),
    ],
)
def test_invalid_agent_word(word, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SpecError, match=message):
        spec_from_text(word, {})


def test_agent_words(monkeypatch):
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


HERE = {"/bin/sh": "/bin/sh", "node": "/opt/node/bin/node"}


def script(tmp_path, content):
    path = tmp_path / "bot"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (b"#!/bin/sh\n", ("/bin/sh",)),
        (b"#! /bin/sh -e\nread x\n", ("/bin/sh", "-e")),
        (b"#!/usr/bin/env node\n", ("/opt/node/bin/node",)),
        (b"#!/usr/bin/env -S node --jitless\n", ("/opt/node/bin/node", "--jitless")),
        (b"\x7fELF#!/bin/sh\n", ()),
        (b"", ()),
    ],
)
def test_shebang_names_interpreter(tmp_path, line, command):
    assert shebang_command(script(tmp_path, line), HERE.get) == command


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"#!/bin/sh\r\n", "ends in a carriage return, as on Windows"),
        (b"#!/usr/bin/nonesuch\n", 'names "/usr/bin/nonesuch", which is not installed'),
        (b"#!/usr/bin/env nonesuch\n", 'names "/usr/bin/env nonesuch", which is not installed'),
        (b"#!\n", 'names "", which is not installed'),
    ],
)
def test_invalid_shebang_is_explained(tmp_path, line, why):
    with pytest.raises(InterpreterMissing, match=why):
        shebang_command(script(tmp_path, line), HERE.get)
