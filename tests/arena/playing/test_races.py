"""Runs of schedules by rounds: the same tables on any workers, and their verification."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from arena.config.experiment import load_experiment
from arena.planning.schedule import RoundTracker, make_schedule
from arena.playing.progress import ProgressCounter
from arena.storage.journal import JOURNAL
from tests.arena.running import (
    TABLES,
    database,
    experiment_file,
    only_run,
    run_experiment_file,
    run_in_process,
    run_in_subprocess,
    small,
    tables,
)
from tests.commands import run as run_main
from tests.commands import verify

AGENTS = """
[agents.greedy]
kind = "greedy"
[agents.first]
kind = "first"
[agents.deep]
kind = "alphabeta"
depth = 3
epsilon = 0.1
"""
RACES = {
    "best": "{ best = 1 }",
    "rank": "{ rank = true, indifference = 100 }",
    "place": '{ place = "deep" }',
    "swiss": "{ swiss = 3, pairs = 2 }",
}
ALL = (*TABLES, "tournament.parquet")


def race_file(directory, schedule, pairs=60):
    head = small(pairs, f"schedule = {schedule}", plies=4)
    return experiment_file(directory, head + AGENTS)


def all_tables(results):
    """The bytes of the reproducible tables of the only run, and of its tournament."""
    name = "tournament.parquet"
    return {**tables(results), name: (only_run(results) / name).read_bytes()}


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in RACES if name != "best"]


def raced(name, directory):
    """The file of a race that was played in this process, and its results."""
    path = race_file(directory, RACES[name])
    run_experiment_file(path, directory / "results", workers=0)
    return path, directory / "results"


@pytest.fixture(scope="module")
def race_for_best(tmp_path_factory):
    return raced("best", tmp_path_factory.mktemp("best"))


@pytest.fixture(scope="module")
def best(race_for_best):
    """The results of a race for the best, for tests that do not change them."""
    return race_for_best[1]


@pytest.fixture(scope="module", params=["best", *SLOW])
def race(request, race_for_best, tmp_path_factory):
    """A race, its tables and its results."""
    name = request.param
    path, results = race_for_best if name == "best" else raced(name, tmp_path_factory.mktemp(name))
    return path, all_tables(results), results


def test_race_has_the_same_tables_for_any_workers_and_interruptions(race, tmp_path):
    path, expected, _ = race
    run_experiment_file(path, tmp_path, workers=3)
    assert all_tables(tmp_path) == expected
    directory = only_run(tmp_path)
    with database(directory / JOURNAL) as base:
        starts = [
            start for (start,) in base.execute("select start from section_batches order by start")
        ]
    for number, start in enumerate(starts[1 :: max(1, len(starts) // 2)]):  # as if killed there
        with database(directory / JOURNAL) as base:
            base.execute("delete from section_batches where start >= ?", (start,))
        for name in ALL:
            (directory / name).unlink()
        run_experiment_file(path, tmp_path, workers=None if number else 2)
        assert all_tables(tmp_path) == expected


def test_verify_replays_a_race(race, tmp_path, capsys):
    _, _, results = race
    assert verify([str(only_run(results)), "--all"]) == 0
    assert "all the same" in capsys.readouterr().out


def test_verify_finds_games_after_the_last_round(best, tmp_path, capsys):
    directory = only_run(shutil.copytree(best, tmp_path / "results"))
    frame = pd.read_parquet(directory / "games.parquet")
    last = frame.iloc[-2:].assign(pair=frame.pair.max() + 1)
    pd.concat([frame, last]).to_parquet(directory / "games.parquet")
    run = json.loads((directory / "run.json").read_text())
    (directory / "run.json").write_text(json.dumps({**run, "games": len(frame) + 2}))
    assert verify([str(directory), "--all"]) == 1
    assert "216 games are there, 214 scheduled" in capsys.readouterr().out


def test_race_reports_the_best_and_why_others_are_out(tmp_path):
    path = race_file(tmp_path, RACES["best"])
    answer = run_in_process(path, "--results", tmp_path, "--workers", 1)
    assert answer.returncode == 0
    assert "best: deep, after" in answer.stdout
    assert answer.stdout.count("  out: ") == 3
    frame = pd.read_parquet(only_run(tmp_path) / "tournament.parquet")
    assert frame.state.tolist() == ["best", "out", "out", "out"]
    assert np.isfinite(frame.log_capital[1:]).all()
    shown = json.loads(run_in_process(path, "--results", tmp_path, "--json").stdout)
    assert shown["tournament"]["answer"].startswith("best: deep")


def test_intervals_after_a_race_are_marked_and_swiss_has_none(best, tmp_path):
    elo = pd.read_parquet(only_run(best) / "elo.parquet")
    sure = elo[elo.elo_low.notna()]
    assert len(sure)
    assert set(sure.interval) == {"adapted"}
    path = race_file(tmp_path, RACES["swiss"])
    run_experiment_file(path, tmp_path / "swiss", workers=0)
    for name in ("elo", "win_rates"):
        frame = pd.read_parquet(only_run(tmp_path / "swiss") / f"{name}.parquet")
        assert set(frame.interval) == {"none"}
        assert frame.elo_low.isna().all()
        assert frame.n_eff.isna().all()


def test_pair_of_a_race_can_be_played_alone_after_its_round_is_known(tmp_path, capsys):
    path = race_file(tmp_path, RACES["best"])
    alone = [str(path), "--pair", "30", "--results", str(tmp_path)]
    assert run_main(alone) == 2
    assert "later rounds depend on results" in capsys.readouterr().err
    run_experiment_file(path, tmp_path)
    assert run_main(alone) == 0
    assert "against" in capsys.readouterr().out


def test_race_plays_each_opening_of_two_agents_once(tmp_path):
    alike = '\n[agents.one]\nkind = "first"\n[agents.other]\nkind = "first"\n'
    head = small(6, 'schedule = "best"', plies=4).replace('[agents.random]\nkind = "random"\n', "")
    path = experiment_file(tmp_path, head + alike)
    run_experiment_file(path, tmp_path, workers=0)
    frame = pd.read_parquet(only_run(tmp_path) / "games.parquet")
    assert frame.opening.tolist() == np.repeat(np.arange(6), 2).tolist()


def test_race_refuses_a_stop_rule(tmp_path):
    path = race_file(tmp_path, RACES["best"])
    path.write_text(path.read_text() + "\n[stop]\nsprt = { elo0 = 0, elo1 = 10 }\n")
    answer = run_in_process(path, "--results", tmp_path)
    assert answer.returncode == 2
    assert "best stops by itself" in answer.stderr


def test_race_refuses_standings(tmp_path):
    path = race_file(tmp_path, RACES["best"])
    path.write_text('standings = "points"\n' + path.read_text())
    answer = run_in_process(path, "--results", tmp_path)
    assert answer.returncode == 2
    assert "best ranks the agents itself; remove standings" in answer.stderr


@pytest.mark.slow
def test_race_has_the_same_tables_on_a_cluster(tmp_path):
    path = race_file(tmp_path, RACES["best"])
    run_experiment_file(path, tmp_path / "here", workers=0)
    answer = run_in_subprocess(path, "--results", tmp_path / "there", "--cluster", "local:2")
    assert answer.returncode == 0, answer.stderr
    assert all_tables(tmp_path / "there") == all_tables(tmp_path / "here")


def test_page_of_a_race_has_its_answer(tmp_path):
    path = race_file(tmp_path, RACES["best"])
    run_experiment_file(path, tmp_path, workers=0, page=True)
    page = (only_run(tmp_path) / "report.html").read_text()
    assert "Best: deep, after" in page
    assert "greedy is out since round" in page


def test_progress_names_the_next_pair_that_is_played(tmp_path):
    three = '[agents.first]\nkind = "first"\n[agents.last]\nkind = "last"\n'
    schedule = make_schedule(load_experiment(experiment_file(tmp_path, small(4) + three)).plan)
    for out, awaited in (((), (0, 1)), ((0,), (1, 2)), ((0, 1), None)):
        assert ProgressCounter(RoundTracker(schedule), out)._next_match() == awaited
