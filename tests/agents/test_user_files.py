"""Files that a user's bot imports or can read."""

import os
import shutil
import subprocess

import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings, SpecError
from agents.create import create_agent
from agents.languages import source_command, source_tree
from agents.registry import build, user_files, user_paths, user_trees
from agents.sandbox.sandbox import Sandbox
from games import game
from games.base import file_trees
from games.base.file_trees import file_tree

BOT = """
import random, mine_helper as helper
from mine_more.part import thing
if len("x"):
    import indented
# import mine_comment
from games import game
from games.base import file_trees
from games.base.file_trees import file_tree
def choose(view, legal, rng):
    return helper.LAST and legal[-1]
"""


@pytest.fixture
def bot(tmp_path):
    for name in ("random", "games", "mine_comment", "unused"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('never imported')\n")
    (tmp_path / "mine_helper.py").write_text(
        "import mine_bot, mine_deep\nfrom mine_deep import LAST\n"
    )
    (tmp_path / "mine_deep.py").write_text("LAST = True\n")
    (tmp_path / "indented.py").write_text("")
    (tmp_path / "mine_bot.py").write_text(BOT)
    return tmp_path / "mine_bot.py"


def test_imported_files_are_found(bot):
    names = [*file_tree(bot).files]
    assert names == ["mine_bot.py", "indented.py", "mine_deep.py", "mine_helper.py"]
    assert [*file_tree(bot.with_name("none.py")).files] == ["none.py"]


def test_packages_and_relative_imports_are_found(bot):
    package = bot.with_name("mine_more")
    for name, text in {
        "__init__.py": "from . import part\n",
        "part.py": "from .deeper.most import thing\nimport mine_root\n",
        "deeper/most.py": "from ...mine_more import part\nfrom .... import outside\n",
        "deeper/table.json": "{}",
        "__pycache__/part.pyc": "",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    bot.with_name("mine_root.py").write_text("")
    found = set(file_tree(bot).files)
    assert {n for n in found if "/" in n} == {
        "mine_more/__init__.py", "mine_more/part.py", "mine_more/deeper/most.py",
        "mine_more/deeper/table.json",
    }  # fmt: skip
    assert "mine_root.py" in found


def test_bot_with_imports_plays(bot):
    (bot.with_name("mine_more")).mkdir()
    bot.with_name("mine_more").joinpath("part.py").write_text("thing = 1\n")
    spec = AgentSpec("python", {"file": str(bot)})
    bot.with_name("mine_helper.py").write_text("from mine_deep import LAST\n")
    assert [path.name for path in user_files(spec)] == [
        "mine_bot.py", "indented.py", "mine_deep.py", "mine_helper.py", "part.py",
    ]  # fmt: skip
    of = game("kalah(4,3)")
    agent = create_agent(spec, of, HostSettings(Sandbox()))
    agent.start(1)
    assert agent.choose(of.start()).move == of.legal(of.start())[-1]
    agent.close()


def program(tmp_path, **more):
    engine = tmp_path / "engine"
    (engine / "lib").mkdir(parents=True)
    for name in ("bot.py", "lib/part.js", "book.bin"):
        (engine / name).write_text(name)
    return engine, AgentSpec("lines", {"command": ["python3", str(engine / "bot.py")], **more})


@pytest.mark.parametrize(
    "option",
    [{"cwd": "engine"}, {"readable": ["engine"]}, {"cwd": "engine", "readable": ["engine"]}],
)
@pytest.mark.parametrize("edited", ["lib/part.js", "book.bin", "lib/new.js", "bot.py"])
def test_edit_of_readable_file_changes_digest(tmp_path, option, edited):
    above = str(tmp_path)
    placed = {
        k: f"{above}/{v}" if isinstance(v, str) else [f"{above}/{e}" for e in v]
        for k, v in option.items()
    }
    engine, spec = program(tmp_path, **placed)
    before = [tree.digest() for tree in user_trees(spec)]
    for name in (
        "__pycache__/bot.pyc",
        ".git/index",
        "results/x/0123456789/run.json",
        "results/x/tune-0123456789.old-1/lock",
    ):
        (engine / name).parent.mkdir(parents=True)
        (engine / name).write_text("it changes with every run")
    assert [tree.digest() for tree in user_trees(spec)] == before
    (engine / edited).write_text("another")
    assert [tree.digest() for tree in user_trees(spec)] != before


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_edit_of_header_changes_digest_and_program(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source, header = tmp_path / "bot.c", tmp_path / "lib" / "pick.h"
    header.parent.mkdir()
    source.write_text('#include <stdio.h>\n#include "lib/pick.h"\nint main() { return ANSWER; }\n')
    spec = AgentSpec("lines", {"command": [str(source)]})
    found = []
    for answer in (3, 4):
        header.write_text(f"#define ANSWER {answer}\n")
        (program,) = source_command(source)
        status = subprocess.run([program], check=False).returncode
        found.append((status, user_trees(spec)[0].digest()))
    assert [status for status, _ in found] == [3, 4]
    assert found[0][1] != found[1][1]


def test_rust_modules_are_found(tmp_path):
    for name, text in {
        "bot.rs": "pub mod a;\n",
        "a.rs": "mod b;\n",
        "a/b.rs": "",
        "c.rs": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert set(source_tree(tmp_path / "bot.rs").files) == {"bot.rs", "a.rs", "a/b.rs"}


def test_installation_of_engine_counts_but_not_of_interpreter(tmp_path):
    home = tmp_path / "edax"
    (home / "bin").mkdir(parents=True)
    for name in ("bin/edax", "bin/python3", "eval.dat"):
        (home / name).write_text("x")
    assert home in user_paths(AgentSpec("lines", {"command": [str(home / "bin" / "edax")]}))
    assert home not in user_paths(AgentSpec("lines", {"command": [str(home / "bin" / "python3")]}))


def test_large_directory_is_digested_by_metadata(tmp_path, monkeypatch):
    engine, spec = program(tmp_path, cwd=f"{tmp_path}/engine")
    monkeypatch.setattr(file_trees, "MOST_FILES", 2)
    (large,) = [tree for tree in user_trees(spec) if tree.is_large]
    before = large.digest()
    os.utime(engine / "book.bin", (1, 1))
    assert file_tree(engine).digest() != before
    monkeypatch.setattr(file_trees, "MOST_LISTED", 2)
    with pytest.raises(SpecError, match="engine has more than 2 files"):
        user_files(spec)


def test_missing_import_is_a_failure(tmp_path):
    (tmp_path / "alone.py").write_text("import mine_nowhere\nchoose = None\n")
    with pytest.raises(AgentFailure, match="mine_nowhere"):
        build(AgentSpec("python", {"file": str(tmp_path / "alone.py")}), game("kalah(4,3)"))
