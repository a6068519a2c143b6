"""What a newcomer adds, as its recipe says: all of it in one copy of the tree, played by commands.

A thing of one's own touches nothing of ours: tests/docs/test_pages.py runs its recipe in an empty
directory.
"""

import os
import re
import shutil
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from tests.docs.answers import matches
from tests.docs.pages import (
    CHANGES,
    PAGES,
    ROOT,
    Block,
    blocks,
    changes_ours,
    commands,
    name_of,
)

RECIPES = [page for page in PAGES if changes_ours(page)]
COPIED = ("games", "agents", "arena", "pitflip", "benchmarks", "tests", "experiments")
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if "PYTEST" not in key},
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "COLUMNS": "80",
}

# A row of the table in CONTRIBUTING.md: the recipe, and the tables that get a line.
ROW = re.compile(r"^\| \[.*?\]\(docs/contribute/([\w-]+)\.md\) .*\| (.*?) \|$", re.M)
ROWS = {
    recipe: re.findall(r"`(\w+)`", tables)
    for recipe, tables in ROW.findall((ROOT / "CONTRIBUTING.md").read_text())
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree to which every recipe has been added."""
    copy = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, copy)
    for page in RECIPES:
        for block in blocks(page):
            if block.language != "toml":
                block.write(copy)
    return copy


@pytest.mark.slow  # a copy has another path, so its kernels are compiled anew
@pytest.mark.parametrize("page", RECIPES, ids=name_of)
def test_a_recipe_ends_as_it_says(page, tree):
    for block in blocks(page):
        if block.file and block.language == "toml":
            block.write(tree)  # recipes call their experiments alike
        for command in commands(block) if block.language in ("sh", "console") else ():
            done = subprocess.run(
                command.line,
                shell=True,
                cwd=tree,
                env={**ENVIRONMENT, "PYTHONPATH": str(tree)},  # for the command pitflip
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout
            assert command.answer is None or matches(command.answer, done.stdout), done.stdout


def changed(block: Block) -> tuple[list[str], list[str]]:
    """The lines of ours that a block takes out of a file, and those that it puts there."""
    name, how, word = block.place
    source = (ROOT / name).read_text()
    text = CHANGES[how](source, word, block.text.partition("\n")[2])
    before, after = source.splitlines(), text.splitlines()
    parts = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    ((_, a, b, c, d),) = [part for part in parts if part[0] != "equal"]
    return before[a:b], after[c:d]


@pytest.mark.parametrize("page", RECIPES, ids=name_of)
def test_a_recipe_touches_one_line_of_ours(page):
    tables = []
    for block in blocks(page):
        if block.file:
            assert not (ROOT / block.file).exists()
        elif block.place:
            old, new = changed(block)
            if block.place[1] in ("one line in", "first line in"):
                tables.append(block.place[2])
                assert (len(old) <= 1, len(new)) == (True, 1)
            else:
                assert old == []
    assert tables
    assert set(tables) <= set(ROWS[page.stem])


def test_every_recipe_has_its_row_and_every_row_its_recipe():
    assert set(ROWS) == {page.stem for page in RECIPES}
