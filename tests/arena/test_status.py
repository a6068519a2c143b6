"""pitflip status: what runs, what ran, where it stands; nothing of a run is touched."""

import json
import os

import pytest

from arena.commands import status
from arena.commands.run import main as run
from arena.commands.runs import main as runs
from arena.storage.journal import RunDirectory, lock_directory
from arena.storage.results import PROGRESS, is_running, read_progress
from arena.terminal.progress import ProgressFile
from games.base.progress import Progress
from tests.arena.running import experiment_file, small

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
        assert status.main([str(run_directory), "--once"]) == 0
        assert before == {path: path.stat().st_mtime_ns for path in run_directory.iterdir()}
        assert capsys.readouterr().out.splitlines()[1:] == ["4 of 8 games", r"a\x1b[2J"]
        assert status.main(["--results", str(run_directory.parents[1])]) == 0
        assert "running  4 of 8 games" in capsys.readouterr().out
    os.close(lock_directory(run_directory))  # looking took no lock that stays


def test_a_stopped_run_is_unfinished_and_a_finished_one_names_its_checks(run_directory, capsys):
    stored(run_directory)
    assert status.main([str(run_directory)]) == 3
    assert (
        "stopped; its command continues it (the experiment: mine.toml)" in capsys.readouterr().out
    )
    stored(run_directory, finished="2026-11-19T03:00:00+0000")
    check = {"status": "holds", "that": "a beats b", "detail": "all 8 games won"}
    check |= {"test": "always", "values": {}}
    (run_directory / "summary.json").write_text(json.dumps({"checks": [check]}))
    assert status.main([str(run_directory)]) == 0
    assert "HOLDS a beats b: all 8 games won" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "[]", '{"lines": 3}', '{"lines": [1, null]}', "x" * 99999])
def test_a_broken_progress_file_says_nothing(run_directory, content):
    (run_directory / PROGRESS).write_text(content)
    assert read_progress(run_directory) == []


def test_what_is_no_run_is_a_mistake(tmp_path, capsys):
    assert status.main([str(tmp_path)]) == 2
    assert status.main(["--results", str(tmp_path)]) == 2
    assert not is_running(tmp_path)
    assert list(tmp_path.iterdir()) == []
    capsys.readouterr()


def test_the_file_is_written_after_a_second_and_removed_at_the_end(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("arena.terminal.progress.time.monotonic", lambda: now[0])
    file = ProgressFile(tmp_path)
    file.show(Progress("at once"))
    assert read_progress(tmp_path) == []
    now[0] += 1.5
    file.show(Progress("1 of 2 games", 1, 2))
    file.show(Progress("too soon"))
    assert read_progress(tmp_path) == ["1 of 2 games, 2 s"]
    file.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_bots_do_not_load_says_so_until_it_is_tried_again(tmp_path, capsys):
    path = experiment_file(tmp_path, small(2) + BROKEN)
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    results = tmp_path / "results"
    command = [str(path), "--workers", "0", "--results", str(results), "--no-page", "--quiet"]
    assert run(command) == 2
    (directory,) = results.glob("demo/*")
    capsys.readouterr()
    assert status.main([str(directory)]) == 3
    shown = capsys.readouterr().out
    assert "failed: broken does not load" in shown
    assert "continues it" not in shown
    assert runs(["--results", str(results), "list"]) == 0
    shown = capsys.readouterr().out
    assert " failed " in shown
    assert "broken does not load" in shown
    assert run([*command, "--set", 'unloadable="forfeit"']) == 0
    capsys.readouterr()
    assert status.main(["--results", str(results)]) == 0
    assert "failed" not in capsys.readouterr().out
