"""The recipes that add to our own packages, all of them in one copy of the tree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.answers import matches
from tests.docs.pages import PAGES, ROOT, blocks, changes_ours, commands, name_of

RECIPES = [page for page in PAGES if changes_ours(page)]
COPIED = ("games", "agents", "arena", "benchmarks", "tests", "experiments")
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if "PYTEST" not in key},
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "COLUMNS": "80",
}

pytestmark = pytest.mark.slow  # a copy has another path, so its kernels are compiled anew


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree to which every recipe has been added."""
    copy = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    for page in RECIPES:
        for block in blocks(page):
            if block.language != "toml":
                block.write(copy)
    return copy


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
                env=ENVIRONMENT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout
            assert command.answer is None or matches(command.answer, done.stdout), done.stdout


@pytest.mark.parametrize("page", RECIPES, ids=name_of)
def test_a_recipe_touches_one_line_of_ours(page):
    places = [block.place for block in blocks(page) if block.place]
    assert [how for _, how, _ in places].count("one line in") == 1
