"""Kill -9 at any instant: of everything, of one worker, of the parent; and bots that crash."""

import os
import random
import signal
import sqlite3
import subprocess
import time

import pandas as pd
import pytest

from arena.playing.worker import Worker
from tests.arena.running import (
    children_of,
    database,
    experiment_file,
    is_alive,
    kill_group,
    only_run,
    run_in_fork,
    run_in_process,
    run_in_subprocess,
    small,
    start_process,
    tables,
)

SEARCHING = """
[agents.searching]
kind = "alphabeta"
depth = 6
epsilon = 0.1
"""
LONG = small(2500, plies=9).replace("kalah(4,3)", "kalah(6,4)") + SEARCHING
SHORTER = LONG.replace("pairs = 2500", "pairs = 600")
HELD = small(60) + SEARCHING.replace("depth = 6", "depth = 2")  # to be held in the middle
TWO = ("--workers", 2, "--no-page")
PATIENCE_SECONDS = 300.0  # on a machine that hardly ever runs what is waited for


def wait_until(condition):
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
    return found


def stored_batches(results):
    """How many batches are in the journal."""
    try:
        journal = only_run(results) / "journal.sqlite"
        with database(f"file:{journal}?mode=ro", uri=True) as base:
            return base.execute("select count(*) from section_batches").fetchone()[0]
    except (ValueError, sqlite3.Error):
        return 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """An experiment and its tables, played without a disturbance."""
    return undisturbed_run(tmp_path_factory.mktemp("undisturbed"), HELD)


def undisturbed_run(directory, text):
    """The experiment of the text and its tables."""
    path = experiment_file(directory, text)
    assert run_in_process(path, "--results", directory / "results", *TWO).returncode == 0
    return path, tables(directory / "results")


def killed_until_done(path, results, kills, chance):
    """Kill the whole group at random instants, then let it end; how many kills there were."""
    done = 0
    while done < kills:
        with start_process(path, "--results", results, "--workers", 2) as process:
            try:
                process.communicate(timeout=chance.uniform(0.3, 2.0))
                return done
            except subprocess.TimeoutExpired:
                kill_group(process)
                done += 1
    assert run_in_subprocess(path, "--results", results, "--workers", 2).returncode == 0
    return done


def test_killed_run_ends_with_the_same_tables(undisturbed, tmp_path):
    path, expected = undisturbed
    with run_in_fork(path, "--results", tmp_path, *TWO, gate=tmp_path / "go") as process:
        wait_until(lambda: stored_batches(tmp_path))
        kill_group(process)
        process.communicate()
    again = run_in_process(path, "--results", tmp_path, *TWO)
    assert "continuing: " in again.stderr
    assert tables(tmp_path) == expected


@pytest.mark.slow
def test_runs_killed_a_hundred_times_end_with_the_same_tables(tmp_path):
    path, expected = undisturbed_run(tmp_path, SHORTER)
    chance, kills, runs = random.Random(2), 0, 0
    while kills < 100:  # in one run where starting takes longer than the time to the next kill
        results = tmp_path / str(runs)
        kills += killed_until_done(path, results, 100 - kills, chance)
        assert tables(results) == expected
        runs += 1


@pytest.mark.slow  # the default suite kills them in test_in_order.py
def test_a_killed_worker_loses_nothing(undisturbed, tmp_path):
    path, expected = undisturbed
    gate = tmp_path / "go"
    with run_in_fork(path, "--results", tmp_path, *TWO, gate=gate) as process:
        wait_until(lambda: stored_batches(tmp_path))
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        gate.touch()
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert tables(tmp_path) == expected


def test_workers_do_not_outlive_their_parent(undisturbed, tmp_path):
    path, _ = undisturbed
    with run_in_fork(path, "--results", tmp_path, *TWO, gate=tmp_path / "go") as process:
        wait_until(lambda: stored_batches(tmp_path))
        workers = children_of(process.pid)
        assert len(workers) == 2
        process.kill()
        process.communicate()
        wait_until(lambda: not any(is_alive(worker) for worker in workers))


def faulty():
    """A fault of ours, planted: whoever plays this pairing is gone."""
    play = Worker.play

    def dying(worker, task):
        if task.start <= 30 < task.stop:
            os.kill(os.getpid(), signal.SIGKILL)
        return play(worker, task)

    Worker.play = dying


def test_a_pairing_that_always_ends_its_worker_is_named_and_the_rest_is_kept(tmp_path):
    path = experiment_file(tmp_path, small(40) + '[agents.first]\nkind = "first"\n')
    words = [
        str(path),
        "--results",
        str(tmp_path / "results"),
        "--set",
        "move_seconds=20",
        "--no-page",
    ]
    with run_in_fork(*words, before=faulty) as process:
        _, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 3
    (line,) = [line for line in told.splitlines() if line.startswith("pitflip run:")]
    assert "(random against first): ended its worker" in line
    assert "Traceback" not in told
    assert "--set move_seconds=20 --pair 30" in line
    command = line.partition("To see it happen: ")[2].split()
    assert command[:3] == ["python", "-m", "arena.run"]
    assert run_in_process(*command[3:]).returncode == 0  # it was we who planted the fault
    journal = only_run(tmp_path / "results") / "journal.sqlite"
    with database(journal) as base:
        assert base.execute("select max(stop) from section_batches").fetchone()[0] == 30
    # Without the fault the same command goes on, and ends.
    again = run_in_process(*words)
    assert again.returncode == 0
    assert "continuing: 60 of 80 games" in again.stderr


def test_a_bot_that_kills_its_process_forfeits_that_game_only(tmp_path):
    path = experiment_file(tmp_path, small(40), "crashing")
    ended = run_in_process(path, "--results", tmp_path / "results", "--no-page")
    assert ended.returncode == 0
    (table,) = (tmp_path / "results").glob("*/*/games.parquet")
    games = pd.read_parquet(table)
    assert len(games) == 80
    assert 0 < (games["termination"] == "crashed").sum() < 40
