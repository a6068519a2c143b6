"""`pitflip`: one word for every command, its help, its completion, and directories in its way."""

import importlib
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from games.base.cli import shell_command
from games.base.errors import OK, USER_ERROR
from pitflip.__main__ import COMMANDS, REMOVED, main
from pitflip.completion import SHELLS

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).parent / "pitflip"


def test_every_module_of_commands_has_a_verb():
    paths = (ROOT / "arena" / "commands").glob("[!_]*.py")
    modules = {f"arena.commands.{path.stem}" for path in paths}
    assert modules <= set(COMMANDS.values())


@pytest.mark.parametrize("word", COMMANDS)
def test_a_word_is_answered_by_its_command(word):
    assert callable(importlib.import_module(COMMANDS[word]).main)


def test_help_says_what_there_is(capsys):
    assert main(["--help"]) == OK
    shown = capsys.readouterr().out
    assert all(f"\n  {word} " in shown for word in COMMANDS)
    assert main([]) == USER_ERROR


@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_the_version_is_that_of_the_package(word, capsys):
    assert main([word]) == OK
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert capsys.readouterr().out == f"pitflip {declared}\n"


@pytest.mark.parametrize("words", [["perfft"], ["completion"], ["completion", "tcsh"], ["\x1b[1m"]])
def test_a_wrong_word_is_one_line(words, capsys):
    assert main(words) == USER_ERROR
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "\x1b" not in shown


@pytest.mark.parametrize("word", REMOVED)
def test_a_removed_command_names_its_substitute(word, capsys):
    assert main([word, "--anything"]) == USER_ERROR
    shown = capsys.readouterr().err
    assert word in shown
    assert REMOVED[word] in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_understands_the_completion(shell, capsys):
    assert main(["completion", shell]) == OK
    text = capsys.readouterr().out
    assert all(word in text for word in COMMANDS)
    assert "junit" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_bash_completes_commands_options_and_first_words(capsys):
    assert main(["completion", "bash"]) == OK
    lines = [capsys.readouterr().out]
    asked = {"exp": "export", "run --js": "--json", "new exper": "experiment",
             "ladder ran": "", "completion z": "zsh"}  # fmt: skip
    for words in asked:
        place = f"COMP_WORDS=(pitflip {words}); COMP_CWORD={1 + words.count(' ')}"
        lines.append(f"{place}; _pitflip; echo $COMPREPLY")
    program = "\n".join(lines)
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == list(asked.values())


def test_games_and_agents_of_ones_own_are_no_obstacle(tmp_path):
    (tmp_path / "games.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/registry.py").write_text("raise SystemExit('not this one')")
    for start in ([sys.executable, "-m", "arena.run"], [str(SCRIPT), "run"]):
        words = [*start, "nowhere.toml"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == "nowhere.toml: there is no such file\n"
        assert done.returncode == USER_ERROR


# ------------------------------------------------------- commands for the shell that shows them


def test_a_command_is_printed_as_it_is_where_python_is_ours(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-m"])
    assert shell_command('python -m games.replay "kalah(6,4)" "1"') == (
        'python -m games.replay "kalah(6,4)" "1"'
    )


def test_a_command_names_our_python_where_the_shell_finds_another(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["-m"])
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(Path(sys.executable).parents[1])
    assert shell_command("python -m games.perft owari 3") == "bin/python -m games.perft owari 3"
    monkeypatch.chdir(tmp_path)
    assert shell_command("python -m games.perft").split(" ")[0] == shlex.quote(sys.executable)


def test_a_command_of_pitflip_says_pitflip(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/pitflip", "run"])
    assert shell_command("python -m games.perft owari 3") == "pitflip perft owari 3"
    assert shell_command("node bot.js") == "node bot.js"
