"""The page about the games names all of them; its recipe makes a game."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from games import GAMES, NAMES
from games.sowing.rules import PARAMETERS, PRESETS, WORDS
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "games.md"
TEXT = PAGE.read_text()
PYTHON = ".venv/bin/python -m "


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
    for block in blocks(PAGE):
        if block.file:
            path = tmp_path / block.file
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
    (line,) = re.findall(r"^The line in `GAMES` is `(.*?)`", TEXT, re.MULTILINE)
    table = tmp_path / "games" / "__init__.py"
    table.write_text(
        table.read_text().replace(
            '    "othello": "games.othello",', f'    {line}\n    "othello": "games.othello",'
        )
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
