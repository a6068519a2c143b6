"""What a user's file imports from beside it: found by reading, loaded after all else."""

import pytest

from agents import AgentFailure, AgentSpec, build, users_files
from agents.imported_files import imported_files
from games import game

BOT = """
import random, mine_helper as helper
from mine_more.part import thing  # a package is none of these
    import indented
# import mine_comment
from games import game
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


def test_it_is_found_with_what_it_imports_itself(bot):
    names = [path.name for path in imported_files(bot)]
    assert names == ["indented.py", "mine_deep.py", "mine_helper.py"]
    assert imported_files(bot.with_name("none.py")) == ()
    assert imported_files(bot.with_suffix(".txt")) == ()


def test_it_is_a_users_file_and_plays(bot):
    bot.write_text(BOT.replace("    import indented\n", "").replace("from mine_more", "# "))
    bot.with_name("mine_helper.py").write_text("from mine_deep import LAST\n")
    spec = AgentSpec("python", {"file": str(bot)})
    assert [path.name for path in users_files(spec)] == [
        "mine_bot.py", "mine_deep.py", "mine_helper.py",
    ]  # fmt: skip
    of = game("kalah(4,3)")
    assert build(spec, of).choose(of.start()).move == of.legal(of.start())[-1]


def test_what_is_nowhere_is_a_fault_of_the_bot(tmp_path):
    (tmp_path / "alone.py").write_text("import mine_nowhere\nchoose = None\n")
    with pytest.raises(AgentFailure, match="mine_nowhere"):
        build(AgentSpec("python", {"file": str(tmp_path / "alone.py")}), game("kalah(4,3)"))
