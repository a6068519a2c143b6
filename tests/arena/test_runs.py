"""pitflip runs: list runs, compare two in words, and delete nothing but runs."""

import json

import pytest

from arena.commands.runs import main
from arena.storage.journal import JOURNAL, RunDirectory
from games.base.errors import CHECK_FAILED, OK, USER_ERROR

PLAN = {"seed": 5, "agents": {"mine": {"kind": "minimax", "depth": 2}}}


def a_run(results, name, begun="2026-01-01T10:00:00", finished=True, **more):
    directory = results / "demo" / name
    directory.mkdir(parents=True)
    stored = {"digest": name, "begun": begun, "finished": begun if finished else None, "games": 40}
    stored |= {"plan": PLAN, "code": "c", "versions": {"numpy": "2.4"}, **more}
    (directory / "run.json").write_text(json.dumps(stored))
    (directory / "games.parquet").write_bytes(bytes(2_000_000))
    return directory


def kept_file(directory, name, digest, text):
    kept = directory / "sources" / digest
    kept.mkdir(parents=True)
    (kept / name).write_text(text)


@pytest.fixture
def results(tmp_path):
    """Five runs of an experiment; the last letters of their names are their ages."""
    for age in range(5):
        a_run(tmp_path, f"{age:010x}", f"2026-01-0{9 - age}T10:00:00")
    return tmp_path


def words(results, *more):
    return ["--results", str(results), *map(str, more)]


def test_the_list_has_every_run_the_latest_first(results, capsys):
    a_run(results, "ffffffffff", "2025-01-01T10:00:00", finished=False)
    (results / "demo" / "notes").mkdir()
    assert main(words(results)) == OK
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        *(f"demo/{age:010x}" for age in range(5)), "demo/ffffffffff",
    ]  # fmt: skip
    assert lines[0].split()[1:] == ["2026-01-09", "10:00", "finished", "40", "games", "2.0", "MB"]
    assert "stopped" in lines[-1]
    assert last == "6 runs, 12.0 MB"


def test_what_differs_is_said_in_words(tmp_path, capsys):
    old = a_run(tmp_path, "aaaaaaaaaa", files={"heur.py": "1" * 16, "gone.py": "3" * 16})
    plan = {"seed": 5, "agents": {"mine": {"kind": "minimax", "depth": 4}}}
    more = {"files": {"heur.py": "2" * 16}, "plan": plan, "versions": {"numpy": "2.5"}}
    new = a_run(tmp_path, "bbbbbbbbbb", **more)
    kept_file(old, "heur.py", "1" * 16, "a\nb\nc\n")
    kept_file(new, "heur.py", "2" * 16, "a\n\x1b[2Jb\nc\n")
    assert main(words(tmp_path, "diff", "aaa", new)) == CHECK_FAILED
    assert capsys.readouterr().out.splitlines() == [
        "heur.py changed", "gone.py is gone",
        "  @@ -1,3 +1,3 @@", "   a", "  -b", r"  +\x1b[2Jb", "   c",
        "agents.mine.depth was 2, is 4", 'versions.numpy was "2.4", is "2.5"',
    ]  # fmt: skip
    assert main(words(tmp_path, "diff", "aaa", "aaa")) == OK
    assert capsys.readouterr().out == "nothing differs\n"


@pytest.mark.parametrize("name", ["cc", "0", "../x", "00000"])
def test_a_run_that_is_not_there_or_not_one_is_a_mistake(results, name, capsys):
    assert main(words(results, "diff", name, "0000000001")) == USER_ERROR
    assert capsys.readouterr().err.count("\n") == 1


def names(results):
    return sorted(path.name for path in (results / "demo").iterdir())


def test_pruning_says_what_would_go_and_asks(results, capsys):
    assert main(words(results, "prune")) == OK
    shown = capsys.readouterr().out
    assert [f"{age:010x}" in shown for age in range(5)] == [False, False, False, True, True]
    assert "nothing was deleted: --yes deletes them" in shown
    assert len(names(results)) == 5
    assert main(words(results, "prune", "--yes", "--keep", "2")) == OK
    assert names(results) == [f"{age:010x}" for age in range(2)]
    assert main(words(results, "prune", "--yes", "--keep", "2")) == OK
    assert "there is nothing to delete" in capsys.readouterr().out
    assert main(words(results, "prune", "--yes", "0000000001")) == OK
    assert names(results) == ["0000000000"]


def test_what_is_not_a_run_is_never_deleted(results, tmp_path_factory, capsys):
    outside = tmp_path_factory.mktemp("outside")
    a_run(outside, "eeeeeeeeee")
    (results / "demo" / "dddddddddd").symlink_to(outside / "demo" / "eeeeeeeeee")
    (results / "other").symlink_to(outside / "demo")
    (results / "demo" / "0000000002" / "notes.md").write_text("mine")
    (results / "demo" / "0000000003" / "sources").symlink_to(outside)
    (results / "demo" / "cccccccccc").mkdir()  # a name like ours, but no run
    assert main(words(results, "prune", "--yes", "--keep", "0")) == OK
    shown = capsys.readouterr().out
    assert "demo/0000000002 stays: notes.md in it is not ours" in shown
    assert "demo/0000000003 stays: sources in it is not ours" in shown
    assert names(results) == ["0000000002", "0000000003", "cccccccccc", "dddddddddd"]
    assert (outside / "demo" / "eeeeeeeeee" / "games.parquet").exists()
    assert main(words(results, "prune", "--yes", results / "demo" / "dddddddddd")) == USER_ERROR


def test_a_run_that_runs_stays(tmp_path, capsys):
    directory = a_run(tmp_path, "aaaaaaaaaa")
    with RunDirectory(directory, "aaaaaaaaaa"):
        assert main(words(tmp_path, "prune", "--yes", "--keep", "0")) == OK
    assert "stays: it runs" in capsys.readouterr().out
    assert (directory / JOURNAL).exists()
    assert main(words(tmp_path, "prune", "--yes", "--keep", "0")) == OK
    assert not directory.exists()
