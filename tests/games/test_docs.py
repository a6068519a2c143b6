"""The page about the games: its commands, its Python and its recipe do what it says."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from games import GAMES, NAMES, game, perft, replay
from games.sowing.rules import PARAMETERS, PRESETS, WORDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "games.md"
TEXT = PAGE.read_text()
PYTHON = ".venv/bin/python -m "
MAINS = {"games.perft": perft.main, "games.replay": replay.main}


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Every command on the page with what it is said to print."""
    shown = [part.partition("\n") for block in blocks("console") for part in block.split("$ ")[1:]]
    return [(command.removeprefix(PYTHON), answer) for command, _, answer in shown]


def timeless(text: str) -> str:
    """The text with speeds replaced, which differ from run to run."""
    text = re.sub(r'("nodes_per_second": )\d+', r"\1-", text)
    return re.sub(r"^( +\d+ +[\d,]+ +[\d,]+) +[\d,]+$", r"\1 -", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("command", "answer"), commands())
def test_a_command_answers_as_the_page_says(command, answer, capsys):
    of = game("othello(4)")
    of.replay("b1")  # compiled kernels are announced, which is no part of the answer
    module, *words = shlex.split(command)
    status = MAINS[module](words)
    out, err = capsys.readouterr()
    said = "".join(line for line in err.splitlines(True) if "compiling for this" not in line)
    assert timeless(out + said) == timeless(answer)
    assert status == (2 if said else 0)


def test_python_answers_as_the_page_says():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 10
    assert failed == 0


def test_every_game_and_every_parameter_is_on_the_page():
    assert {f"| `{name}` |" for name in (*NAMES, *PARAMETERS)} <= set(
        re.findall(r"\| `[\w-]+` \|", TEXT)
    )
    for name, words in WORDS.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", TEXT, re.MULTILINE)
        default = getattr(PRESETS["kalah"], name)
        assert row.replace("`", "").split() == sorted(words, key=lambda word: word != default)


@pytest.mark.slow
def test_the_recipe_makes_a_game_that_keeps_the_contract(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for package in ("games", "tests"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for block in blocks("python"):
        where, _, source = block.partition("\n")
        path = tmp_path / where.removeprefix("# ")
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    (line,) = re.findall(r"^The line in `GAMES` is `(.*?)`", TEXT, re.MULTILINE)
    table = tmp_path / "games" / "__init__.py"
    table.write_text(
        table.read_text()
        .replace("from games import othello,", "from games import othello, takeaway,")
        .replace('    "othello": othello.build,', f'    {line}\n    "othello": othello.build,')
    )
    (command,) = re.findall(rf"^{PYTHON}(pytest .*)$", TEXT, re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed > 100
    assert "takeaway" not in GAMES
