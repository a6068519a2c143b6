"""The command `pitflip versus`."""

import shutil
import subprocess

import pytest

from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.arena.running import run_experiment_file
from tests.commands import versus

TEXT = (
    'game = "kalah(4,3)"\npairs = 30\nopenings = {{ random_plies = 4 }}\n'
    '[agents.mine]\nkind = "minimax"\ndepth = {depth}\n[agents.other]\nkind = "greedy"\n'
)


def git(directory, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
        cwd=directory, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """A repository with three committed depths of an experiment's agent; the last is there now."""
    directory = tmp_path_factory.mktemp("committed")
    git(directory, "init", "-q", "--template=")  # none of the hooks that nobody runs
    for depth in (1, 2, 3):
        (directory / "mine.toml").write_text(TEXT.format(depth=depth))
        git(directory, "add", "mine.toml")
        git(directory, "commit", "-qm", f"depth {depth}")
    return directory


@pytest.fixture
def mine(committed, tmp_path, monkeypatch):
    """The experiment in a copy of that repository."""
    shutil.copytree(committed, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mine.toml"


def words(path, *more):
    return [str(path), "--workers", "0", *more]


def test_stronger_version_is_found(mine, capsys):
    mine.write_text(TEXT.format(depth=5))
    assert versus(words(mine, "--base", "HEAD~2", "--elo1", "100", "--pairs", "200")) == OK
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("mine is stronger than mine@HEAD~2: accepted 100: ")
    mine.write_text(TEXT.format(depth=1))
    assert versus(words(mine, "--elo1", "100", "--pairs", "200")) == CHECK_FAILED
    assert "mine is not stronger than mine@HEAD: " in capsys.readouterr().out


def test_a_clean_tree_has_nothing_to_compare(mine, capsys):
    assert versus(words(mine)) == USER_ERROR
    assert "no agent differs from HEAD: nothing to compare" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--base", "HEAD~9"], 'there is no revision "HEAD~9"'),
        (["--agent", "min"], 'did you mean "mine"?'),
        (["--agent", "other"], "other does not differ from HEAD"),
        (["--elo0", "20"], "elo0 < elo1"),
        (["--pairs", "9"], "--pairs must be at least 10"),
        (["--revisions", "2", "--base", "HEAD"], "leave out --base"),
    ],
)
def test_a_mistake_is_one_line(mine, more, said, capsys):
    mine.write_text(TEXT.format(depth=2))
    assert versus(words(mine, *more)) == USER_ERROR
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


def test_several_agents_that_differ_are_asked_about(mine, capsys):
    mine.write_text(TEXT.format(depth=2).replace('"greedy"', '"fewest"'))
    assert versus(words(mine)) == USER_ERROR
    assert "mine, other differ: choose one with --agent NAME" in capsys.readouterr().err


def test_a_run_is_a_base_where_there_is_no_git(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.format(depth=1))
    run_experiment_file(path, tmp_path / "results", workers=0)
    ((run,),) = [(tmp_path / "results" / "mine").iterdir()]
    assert versus(words(path, "--base", f"run:{run.name[:5]}")) == USER_ERROR
    assert "no agent differs from run:" in capsys.readouterr().err
    path.write_text(TEXT.format(depth=3))
    more = ("--base", f"run:{run.name[:5]}", "--elo1", "100", "--pairs", "60")
    assert versus(words(path, *more)) in (OK, CHECK_FAILED)
    assert f"mine@run:{run.name[:5]}: " in capsys.readouterr().out


def test_missing_repository_is_a_mistake(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.format(depth=1))
    assert versus(words(path)) == USER_ERROR
    assert versus(words(path, "--agent", "mine", "--revisions", "5")) == USER_ERROR
    assert capsys.readouterr().err.count("git repository") == 2


def test_the_history_has_every_version_that_differs_and_a_figure(mine, capsys):
    mine.write_text(TEXT.format(depth=4) + "# no difference\n")
    assert versus(words(mine, "--agent", "mine", "--revisions", "2")) == OK
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["version", "day", "Elo"]
    assert [row.rpartition("  ")[2] for row in rows] == ["depth 2", "depth 3", "the working copy"]
    (figure,) = mine.parent.glob("results/mine-history/*/history.svg")
    assert figure.read_text().count("<circle") == 3
    git(mine.parent, "commit", "-qam", "depth 4")
    assert versus(words(mine, "--agent", "mine", "--revisions", "9")) == OK
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.rpartition("  ")[2] for row in rows] == [f"depth {n}" for n in (1, 2, 3, 4)]


def test_the_history_of_several_agents_needs_a_name(mine, capsys):
    assert versus(words(mine, "--revisions", "2")) == USER_ERROR
    assert "mine, other are in the file: choose one with --agent" in capsys.readouterr().err
    mine.write_text('game = "kalah(4,3)"\n[agents.mine]\nkind = "minimax"\ndepth = 4\n')
    assert versus(words(mine, "--revisions", "2", "--pairs", "3")) == OK
    assert "the working copy" in capsys.readouterr().out


BOT = "def choose(view, legal, rng):\n    return legal[{at}]\n"


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A directory without git: two bots that differ, and a copy of the first."""
    monkeypatch.chdir(tmp_path)
    for name, at in (("a", -1), ("b", 0), ("copy", -1)):
        (tmp_path / f"{name}.py").write_text(BOT.format(at=at))
    return tmp_path


def test_two_files_are_compared_without_git(bots, capsys):
    more = ("--elo1", "100", "--pairs", "60", "--game", "kalah(4,3)")
    assert versus(words("a.py", "smart", *more)) == CHECK_FAILED
    assert "a is not stronger than smart: " in capsys.readouterr().out
    assert versus(words("smart", "a.py", *more)) == OK
    assert "smart is stronger than a: " in capsys.readouterr().out
    assert versus(words("minimax:depth=1", "minimax:depth=2", "--pairs", "10")) == CHECK_FAILED
    assert "undecided" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a.py", "copy.py"], "a.py and copy.py are the same agent"),
        (["a.py", "a.py"], "a.py and a.py are the same agent"),
        (["a.py", "d.py"], "there is no file"),
        (["a.py", "b.py", "--revisions", "2"], "leave out --revisions"),
        (["a.py", "b.py", "--base", "HEAD"], "leave out --base"),
        (["a.py", "b.py", "--game", "chess"], "chess"),
        (["a.py"], "as in pitflip versus new.py old.py"),
        (["a.py", "--revisions", "2"], "as in pitflip versus new.py old.py"),
        (["d.py"], "there is no file"),
        (["d.toml"], "d.toml"),
    ],
)
def test_mistakes_without_git_are_one_line(bots, given, said, capsys):
    assert versus(words(*given)) == USER_ERROR
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


def test_file_of_one_agent_is_compared_with_git(bots, capsys):
    git(bots, "init", "-q", "--template=")
    assert versus(words("a.py")) == USER_ERROR
    assert "has no commits" in capsys.readouterr().err
    (bots / "mine.toml").write_text('kind = "minimax"\ndepth = 1\n')
    git(bots, "add", "b.py", "mine.toml")
    git(bots, "commit", "-qm", "first")
    assert versus(words("a.py")) == USER_ERROR
    assert "there is no file a.py in HEAD: commit it first" in capsys.readouterr().err
    assert versus(words("b.py")) == USER_ERROR
    assert "b does not differ from HEAD" in capsys.readouterr().err
    assert versus(words("mine.toml")) == USER_ERROR
    assert "mine does not differ from HEAD" in capsys.readouterr().err
    (bots / "mine.toml").write_text('kind = "minimax"\ndepth = 4\n')
    more = ("--elo1", "100", "--pairs", "100")
    assert versus(words("mine.toml", *more)) == OK
    assert "mine is stronger than mine@HEAD: " in capsys.readouterr().out
    (bots / "b.py").write_text(BOT.format(at=-1))
    assert versus(words("b.py", *more)) in (OK, CHECK_FAILED)
    assert "b@HEAD: " in capsys.readouterr().out
    git(bots, "commit", "-qam", "second")
    assert versus(words("b.py", "--revisions", "5", "--pairs", "3")) == OK
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.rpartition("  ")[2] for row in rows] == ["first", "second"]


def test_experiment_names_its_own_game(mine, capsys):
    assert versus(words(mine, "--game", "owari")) == USER_ERROR
    assert "--set game=" in capsys.readouterr().err
