"""The command `pitflip runs`."""

import json
import os

import pytest

from arena.storage.journal import JOURNAL, RunDirectory, lock_directory
from arena.storage.results import PROGRESS, is_running, progress_lines
from arena.terminal.progress import ProgressFile
from games.base.errors import CHECK_FAILED, OK, USER_ERROR, UserError
from games.base.progress import Progress
from tests.arena.running import experiment_file, small
from tests.commands import run, runs
from tests.commands import run as run_main
from tests.commands import runs as main

PLAN = {"seed": 5, "agents": {"mine": {"kind": "minimax", "depth": 2}}}


def a_run(results, name, begun="2026-01-01T10:00:00", finished=True, **more):
    directory = results / "demo" / name
    directory.mkdir(parents=True)
    stored = {"digest": name, "begun": begun, "finished": begun if finished else None, "games": 40}
    stored |= {"plan": PLAN, "code": "c", "versions": {"numpy": "2.4"}, **more}
    stored["sources"] = stored.get("files", {})
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
    return [*map(str, more), "--results", str(results)]


def test_the_list_has_every_run_the_latest_first(results, capsys):
    a_run(results, "ffffffffff", "2025-01-01T10:00:00", finished=False)
    (results / "demo" / "notes").mkdir()
    assert main(words(results)) == OK
    shown = capsys.readouterr().out
    for other in (words(results, "list"), [*words(results), "list"]):
        assert main(other) == OK
        assert capsys.readouterr().out == shown
    *lines, last = shown.splitlines()
    assert [line.split()[0] for line in lines] == [
        *(f"demo/{age:010x}" for age in range(5)), "demo/ffffffffff",
    ]  # fmt: skip
    assert lines[0].split()[1:] == ["2026-01-09", "10:00", "finished", "40", "games", "2.0", "MB"]
    assert "stopped" in lines[-1]
    assert last == "6 runs, 12.0 MB"


def test_runs_diff_lists_differences(tmp_path, capsys):
    files = {"heur.py": "1" * 16, "gone.py": "3" * 16}
    old = a_run(tmp_path, "aaaaaaaaaa", files=files, sources={"heur.py": "1" * 16})
    plan = {"seed": 5, "agents": {"mine": {"kind": "minimax", "depth": 4}}}
    files = {"heur.py": "2" * 16}
    more = {"files": files, "sources": files, "plan": plan, "versions": {"numpy": "2.5"}}
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
def test_unknown_run_is_a_mistake(results, name, capsys):
    assert main(words(results, "diff", name, "0000000001")) == USER_ERROR
    assert capsys.readouterr().err.count("\n") == 1


def names(results):
    return sorted(path.name for path in (results / "demo").iterdir())


def test_prune_lists_runs_and_asks(results, capsys):
    assert main(words(results, "prune")) == OK
    shown = capsys.readouterr().out
    assert [f"{age:010x}" in shown for age in range(5)] == [False, False, False, True, True]
    assert "nothing was deleted: --yes" in shown
    assert len(names(results)) == 5
    assert main(words(results, "prune", "--yes", "--keep", "2")) == OK
    assert names(results) == [f"{age:010x}" for age in range(2)]
    assert main(words(results, "prune", "--yes", "--keep", "2")) == OK
    assert "there is nothing to delete" in capsys.readouterr().out
    assert main(words(results, "prune", "--yes", "0000000001")) == OK
    assert names(results) == ["0000000000"]


def test_prune_deletes_only_runs(results, tmp_path_factory, capsys):
    outside = tmp_path_factory.mktemp("outside")
    a_run(outside, "eeeeeeeeee")
    (results / "demo" / "dddddddddd").symlink_to(outside / "demo" / "eeeeeeeeee")
    (results / "other").symlink_to(outside / "demo")
    (results / "demo" / "0000000002" / "notes.md").write_text("mine")
    (results / "demo" / "0000000003" / "sources").symlink_to(outside)
    (results / "demo" / "cccccccccc").mkdir()  # a name like ours, but no run
    assert main(words(results, "prune", "--yes", "--keep", "0")) == OK
    shown = capsys.readouterr().out
    assert "demo/0000000002 is kept: it contains other files (notes.md)" in shown
    assert "demo/0000000003 is kept: it contains other files (sources)" in shown
    assert names(results) == ["0000000002", "0000000003", "cccccccccc", "dddddddddd"]
    assert (outside / "demo" / "eeeeeeeeee" / "games.parquet").exists()
    assert main(words(results, "prune", "--yes", results / "demo" / "dddddddddd")) == USER_ERROR


def test_prune_keeps_active_runs(tmp_path, capsys):
    directory = a_run(tmp_path, "aaaaaaaaaa")
    with RunDirectory(directory, "aaaaaaaaaa"):
        assert main(words(tmp_path, "prune", "--yes", "--keep", "0")) == OK
    assert "is kept: it is running" in capsys.readouterr().out
    assert (directory / JOURNAL).exists()
    assert main(words(tmp_path, "prune", "--yes", "--keep", "0")) == OK
    assert not directory.exists()


REFUSED = {
    "too many pairs": small(500, plies=2) + '[agents.first]\nkind = "first"\n',
    "a bot does not load": small(2) + '[agents.bad]\nkind = "python"\nfile = "bad.py"\n',
}


@pytest.mark.parametrize("why", REFUSED)
@pytest.mark.parametrize("fresh", [[], ["--fresh"]])
def test_a_run_that_is_refused_leaves_nothing(why, fresh, tmp_path):
    (tmp_path / "bad.py").write_text("import nothing_of_this_name\n")
    path, results = tmp_path / "demo.toml", tmp_path / "results"
    path.write_text(REFUSED[why])
    command = [str(path), "--workers", "0", "--results", str(results), "--no-page", "--quiet"]
    assert run_main([*command, *fresh]) == 2
    assert list(results.rglob("*")) == []


def test_a_fresh_run_that_is_refused_leaves_the_earlier_one(tmp_path):
    journal = tmp_path / "demo" / "0123456789"
    with RunDirectory(journal, "0123456789") as earlier:
        earlier.section().append(0, 1, b"")
    with pytest.raises(UserError), RunDirectory(journal, "0123456789", fresh=True):
        raise UserError("refused")
    assert [each.name for each in journal.parent.iterdir()] == ["0123456789"]
    with RunDirectory(journal, "0123456789") as again:
        assert again.section().item_count() == 1


BROKEN = '[agents.broken]\nkind = "python"\nfile = "broken.py"\n'


@pytest.fixture
def run_directory(tmp_path):
    directory = tmp_path / "results" / "mine" / "0123456789"
    with RunDirectory(directory, "0123456789"):
        pass
    return directory


def stored(directory, **more):
    (directory / "run.json").write_text(json.dumps({"path": "mine.toml", **more}))


def test_a_running_run_shows_its_lines_and_is_not_disturbed(run_directory, capsys):
    stored(run_directory)
    with RunDirectory(run_directory, "0123456789"):
        (run_directory / PROGRESS).write_text(json.dumps({"lines": ["4 of 8 games", "a\x1b[2J"]}))
        before = {path: path.stat().st_mtime_ns for path in run_directory.iterdir()}
        assert runs(["show", str(run_directory)]) == 0
        assert before == {path: path.stat().st_mtime_ns for path in run_directory.iterdir()}
        assert capsys.readouterr().out.splitlines()[1:] == ["4 of 8 games", r"a\x1b[2J"]
        assert runs(["--results", str(run_directory.parents[1])]) == 0
        shown = capsys.readouterr().out
        assert " running " in shown
        assert "4 of 8 games" in shown
    os.close(lock_directory(run_directory))  # looking took no lock that stays


def test_a_stopped_run_is_unfinished_and_a_finished_one_names_its_checks(run_directory, capsys):
    stored(run_directory)
    assert runs(["show", str(run_directory), "--follow"]) == 3
    assert (
        "stopped; the same command continues it (the experiment: mine.toml)"
        in capsys.readouterr().out
    )
    stored(run_directory, finished="2026-11-19T03:00:00+0000")
    check = {"status": "holds", "that": "a beats b", "detail": "all 8 games won"}
    check |= {"test": "always", "values": {}}
    (run_directory / "summary.json").write_text(json.dumps({"checks": [check]}))
    assert runs(["show", str(run_directory), "--follow"]) == 0
    assert "HOLDS a beats b: all 8 games won" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "[]", '{"lines": 3}', '{"lines": [1, null]}', "x" * 99999])
def test_broken_progress_file_is_ignored(run_directory, content):
    (run_directory / PROGRESS).write_text(content)
    assert progress_lines(run_directory) == []


def test_directory_without_run_is_a_mistake(tmp_path, capsys):
    assert runs(["show", str(tmp_path)]) == 2
    assert runs(["--results", str(tmp_path)]) == 2
    assert not is_running(tmp_path)
    assert list(tmp_path.iterdir()) == []
    capsys.readouterr()


def test_the_file_is_written_after_a_second_and_removed_at_the_end(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("arena.terminal.progress.time.monotonic", lambda: now[0])
    file = ProgressFile(tmp_path)
    file.show(Progress("at once"))
    assert progress_lines(tmp_path) == []
    now[0] += 1.5
    file.show(Progress("1 of 2 games", 1, 2))
    file.show(Progress("too soon"))
    assert progress_lines(tmp_path) == ["1 of 2 games, 2 s"]
    file.remove()
    assert list(tmp_path.iterdir()) == []


def test_failed_run_shows_its_reason_until_the_next_attempt(tmp_path, capsys):
    path = experiment_file(tmp_path, small(2) + BROKEN)
    (tmp_path / "broken.py").write_text("def choose(view, legal, rng):\n    return 1 // 0\n")
    results = tmp_path / "results"
    command = [str(path), "--workers", "0", "--results", str(results), "--no-page", "--quiet"]
    assert run(command) == 2
    (directory,) = results.glob("demo/*")
    capsys.readouterr()
    assert runs(["show", str(directory), "--follow"]) == 3
    shown = capsys.readouterr().out
    assert "failed: broken failed all its" in shown
    assert "continues it" not in shown
    assert runs(["--results", str(results), "list"]) == 0
    shown = capsys.readouterr().out
    assert " failed " in shown
    assert "broken failed all its" in shown
    assert run([*command, "--set", 'roster.directory="."']) == 0
    capsys.readouterr()
    assert runs(["--results", str(results)]) == 0
    assert " finished " in capsys.readouterr().out
