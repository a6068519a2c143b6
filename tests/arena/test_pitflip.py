"""The command `pitflip`: verbs, help, options and completion."""

import argparse
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from arena.commands.options import duration, number, whole_number
from arena.commands.registry import COMMANDS, GROUPS, make_parser, run_verb
from games.base import progress
from games.base.cli import shell_command
from games.base.errors import OK, USER_ERROR
from games.base.removed import REMOVED_COMMANDS, REMOVED_OPTIONS
from pitflip.__main__ import COMPLETION, main

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).parent / "pitflip"
MOST_OPTIONS = 185


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def signals():
    """A command sets the handlers of its process, which is ours here."""
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGPIPE)}
    yield
    for each, handler in handlers.items():
        signal.signal(each, handler)


def test_every_module_of_commands_is_a_command():
    paths = (ROOT / "arena" / "commands").glob("[!_]*.py")
    names = {path.stem.rstrip("_") for path in paths}  # class_.py has the command `class`
    assert names - {"registry", "options"} == set(COMMANDS)


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize("words", [["{}", "--help"], ["help", "{}"]], ids=" ".join)
def test_help_of_a_command_has_its_summary_and_an_example(verb, words, capsys):
    assert main([word.format(verb) for word in words]) == OK
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.lower().startswith(f"{COMMANDS[verb].summary.lower()}.\n")
    assert shown.splitlines()[-1].startswith(f"  pitflip {verb} ")


def test_a_silent_command_shows_that_it_works(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.05)
    monkeypatch.setattr(progress, "LIVE_SECONDS", 0.05)
    monkeypatch.setattr("arena.commands.rate.run", lambda _: time.sleep(0.3) or OK)
    assert run_verb("rate", ["games.csv"]) == OK
    assert "pitflip rate: working, " in capsys.readouterr().err
    assert run_verb("rate", ["games.csv", "--json"]) == OK
    assert capsys.readouterr().err == ""


def test_help_lists_the_groups_on_one_screen(capsys):
    assert main(["--help"]) == OK
    lines = capsys.readouterr().out.splitlines()
    starts = [line[:9].strip() for line in lines]
    assert [start for start in starts if start in GROUPS] == [*GROUPS]
    assert all(any(f" {verb} " in line for line in lines) for verb in COMMANDS)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert main([]) == USER_ERROR


def options_of(parser):
    """The names of the options and arguments of a command, those of its subcommands once."""
    names = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            names |= {action.dest}.union(*map(options_of, action.choices.values()))
        elif not isinstance(action, argparse._HelpAction):
            names.add(action.dest)
    return names


def test_there_are_not_too_many_options():
    assert sum(len(options_of(make_parser(verb))) for verb in COMMANDS) <= MOST_OPTIONS


@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_the_version_is_that_of_the_package(word, capsys):
    assert main([word]) == OK
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert capsys.readouterr().out == f"pitflip {declared}\n"


@pytest.mark.parametrize(
    "words", [["perfft"], [COMPLETION], [COMPLETION, "ksh"], ["help", "x"], ["\x1b[1m"]]
)
def test_a_wrong_word_is_one_line(words, capsys):
    assert main(words) == USER_ERROR
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "\x1b" not in shown


@pytest.mark.parametrize("word", REMOVED_COMMANDS)
def test_a_removed_command_names_its_substitute(word, capsys):
    assert word not in COMMANDS
    assert main([word, "--anything"]) == USER_ERROR
    shown = capsys.readouterr().err
    assert word in shown
    assert REMOVED_COMMANDS[word] in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("option", REMOVED_OPTIONS)
def test_a_removed_option_names_its_substitute(option, capsys):
    assert main(["runs", "list", f"{option}=x"]) == USER_ERROR
    line = capsys.readouterr().err
    assert line == f"pitflip runs: {option} was removed: {REMOVED_OPTIONS[option]}\n"


def test_a_removed_option_is_no_abbreviation_of_another_one(capsys):
    assert main(["export", "a_run", "--method", "x"]) == USER_ERROR
    line = capsys.readouterr().err
    assert line == f"pitflip export: --method was removed: {REMOVED_OPTIONS['--method']}\n"


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (duration, "30s", 30.0),
        (duration, "5m", 300.0),
        (duration, "0.5h", 1800.0),
        (duration, "2", 2.0),
        (duration, "0", None),
        (duration, "5d", None),
        (duration, "-1s", None),
        (duration, "1e5", None),
        (whole_number(1, 9), "9", 9),
        (whole_number(1, 9), "10", None),
        (whole_number(1, 9), "1.5", None),
        (number, "-1.5", -1.5),
        (number, "nan", None),
        (number, "ten", None),
    ],
)
def test_values_of_options(parse, text, value):
    if value is not None:
        assert parse(text) == value
        return
    with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f'got "{text}"')):
        parse(text)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_understands_the_completion(shell, capsys):
    assert main([COMPLETION, shell]) == OK
    text = capsys.readouterr().out
    assert all(verb in text for verb in COMMANDS)
    assert "junit" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_users_games_and_agents_files_do_not_hide_ours(tmp_path):
    (tmp_path / "games.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/registry.py").write_text("raise SystemExit('not this one')")
    for start in ([sys.executable, "-m", "arena.run"], [str(SCRIPT), "run"]):
        words = [*start, "nowhere.toml"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == "nowhere.toml: there is no such file\n"
        assert done.returncode == USER_ERROR


# ------------------------------------------------------- commands for the shell that shows them


def test_a_command_is_printed_for_a_shell_that_has_no_script(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["-m"])
    assert shell_command("pitflip rate FILE") == "python -m pitflip rate FILE"
    assert shell_command("pitflip run FILE") == "python -m arena.run FILE"
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(Path(sys.executable).parents[1])
    assert shell_command("pitflip rate FILE") == "bin/python -m pitflip rate FILE"
    monkeypatch.chdir(tmp_path)
    assert shell_command("pitflip rate FILE").split(" ")[0] == shlex.quote(sys.executable)


def test_a_command_of_the_script_is_printed_as_it_is(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/pitflip", "run"])
    assert shell_command("pitflip game owari perft 3") == "pitflip game owari perft 3"
    assert shell_command("node bot.js") == "node bot.js"
