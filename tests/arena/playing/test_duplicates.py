"""Duplicate games are copies of the first ones: marked, free, and equal to played ones."""

import json
import logging

import numpy as np
import pandas as pd
import pytest

from arena.config.experiment import load_experiment
from arena.planning.games import RESULT_COLUMNS, decode_games, encode_games
from arena.planning.schedule import RoundTracker, make_schedule
from arena.planning.tasks import Task
from arena.playing import worker as repeats
from arena.playing.determinism import FIXED, deterministic_matches, find_contradictions
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import ProgressCounter
from arena.playing.referee_loop import RefereeLoop
from arena.playing.worker import COST_COLUMNS, Worker
from arena.storage.journal import RunDirectory
from tests.arena.running import experiment_file, only_run, run_experiment_file
from tests.arena.test_pipeline import Refereed, same_records
from tests.commands import verify

TRIED = "arena.playing.determinism.play_trial_games"
AGENTS = """
[agents.greedy]
kind = "greedy"
[agents.search]
kind = "alphabeta"
depth = 2
[agents.random]
kind = "random"
"""
BY_THE_BOARD = "def choose(view, legal, rng):\n    return legal[0]\n"
BY_ITS_RNG = "def choose(view, legal, rng):\n    return rng.choice(legal)\n"
BY_ANY_OTHER = "import random\ndef choose(view, legal, rng):\n    return random.choice(legal)\n"
BY_THE_SYSTEM = BY_ANY_OTHER.replace("random.choice", "random.SystemRandom().choice")
RAISING = "def choose(view, legal, rng):\n    raise ValueError('never')\n"
RAISING_AS_SECOND = """def choose(view, legal, rng):
    if view.mover: raise ValueError('never')
    return legal[0]
""".replace(": raise", ":\n        raise")


def repeated(pairs=50, openings="enumerate = 1", more=AGENTS):
    return (
        f'game = "kalah(4,3)"\npairs = {pairs}\nopenings = {{ {openings}, repeat = true }}\n{more}'
    )


BOT = '[agents.bot]\nkind = "python"\nfile = "bot.py"\n'
DECLARED = f"{BOT}deterministic = true\n"
GREEDY = '[agents.greedy]\nkind = "greedy"\n'


def python(directory, source, bot=DECLARED, pairs=50):
    """A match of a bot against a built-in agent that plays openings again."""
    (directory / "bot.py").write_text(source)
    return experiment_file(directory, repeated(pairs, more=bot + GREEDY))


def found(path):
    with RunDirectory(path.parent / "store", "digest") as run:
        store = run.section()
        return deterministic_matches(
            make_schedule(load_experiment(path).plan), store, PlayOptions(2, Interrupts())
        )


def test_built_in_agents_need_no_trial_games(tmp_path):
    assert found(experiment_file(tmp_path, repeated())) == {(0, 1)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BY_THE_BOARD, {(0, 1)}),
        (BY_ANY_OTHER, set()),
        pytest.param(BY_ITS_RNG, set(), marks=pytest.mark.slow),
        pytest.param(RAISING, {(0, 1)}, marks=pytest.mark.slow),
    ],
)
def test_declaration_of_a_bot_is_tried(tmp_path, source, expected):
    logging.disable(logging.CRITICAL)
    try:
        assert found(python(tmp_path, source)) == expected
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("word", ["", "deterministic = false\n"])
def test_bot_without_a_declaration_is_never_copied(tmp_path, monkeypatch, word):
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried"))
    assert found(python(tmp_path, BY_THE_BOARD, BOT + word)) == set()


def test_no_trial_games_without_duplicates(tmp_path, monkeypatch):
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried"))
    (tmp_path / "bot.py").write_text(BY_THE_BOARD)
    path = experiment_file(tmp_path, repeated(pairs=3, more=DECLARED + GREEDY))
    assert found(path) == set()


def test_copies_equal_games_that_are_played_again(tmp_path):
    ready = make_schedule(load_experiment(experiment_file(tmp_path, repeated())).plan)
    ready = make_schedule(ready.plan, deterministic=frozenset({(0, 1)}))
    total = ready.pairs.total
    copying, playing = Worker(ready), Worker(ready)
    playing.duplicates.games = lambda block, play: play(block)
    expected = playing.play(Task(0, total, {}))
    whole = copying.play(Task(0, total, {}))
    pieces = [copying.play(Task(at, min(at + 7, total), {})) for at in range(0, total, 7)]
    told = [name for name in RESULT_COLUMNS if name not in COST_COLUMNS]
    for name in told:
        assert whole.columns[name].tolist() == expected.columns[name].tolist()
        each = np.concatenate([piece.columns[name] for piece in pieces])
        assert each.tolist() == expected.columns[name].tolist()
    assert whole.moves.tolist() == expected.moves.tolist()
    same_records(Refereed(ready).play(Task(0, total, {})), whole)


def test_process_plays_each_opening_once(tmp_path, monkeypatch):
    asked = []
    play = RefereeLoop.play
    monkeypatch.setattr(
        RefereeLoop,
        "play",
        lambda self, block, *more: asked.append(block) or play(self, block, *more),
    )
    ready = make_schedule(
        load_experiment(python(tmp_path, BY_THE_BOARD)).plan, deterministic=frozenset({(0, 1)})
    )
    worker = Worker(ready)
    for at in range(0, 50, 5):
        worker.play(Task(at, at + 5, {}))
    assert sum(block.size for block in asked) <= 2 * len(ready.openings)
    monkeypatch.setattr(repeats, "MAX_REMEMBERED", 0)
    before = len(asked)
    forgetful = Worker(ready)
    for at in range(5, 50, 5):
        forgetful.play(Task(at, at + 5, {}))
    assert len(asked) == before + 9


def test_duplicates_have_the_seed_of_the_first_game(tmp_path):
    ready = make_schedule(load_experiment(experiment_file(tmp_path, repeated())).plan)
    openings = len(ready.openings)
    schedule = make_schedule(ready.plan, deterministic=frozenset({(0, 1)})).pairs
    for block in schedule.blocks(0, schedule.total):
        seeds = schedule.seeds(block)
        assert len(set(seeds.tolist())) == (openings if (block.a, block.b) == (0, 1) else 50)
        rows = slice(2 * block.first, 2 * (block.first + block.size), 2)
        assert schedule.columns(0, schedule.total)["seed"][rows].tolist() == seeds.tolist()


def test_forfeits_are_copied_and_reported_once(tmp_path):
    path = python(tmp_path, RAISING_AS_SECOND, pairs=12)
    run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    assert (games.termination == "raised").any()
    assert games.repeat.sum() == len(games) - 2 * 4
    said = json.loads((directory / "run.json").read_text())
    assert said[FIXED] == [[0, 1]]
    assert said["forfeits"] == [
        "bot: raised ValueError: never, line 3 of bot.py: raise ValueError('never')"
    ]
    assert verify([str(directory), "--all"]) == 0
    rates = pd.read_parquet(directory / "win_rates.parquet")
    assert (rates.counted_games == 8).all()


def test_continued_run_plays_no_trial_games(tmp_path, monkeypatch):
    path = python(tmp_path, BY_THE_BOARD, pairs=6)
    run_experiment_file(path, tmp_path / "results")
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried again"))
    run_experiment_file(path, tmp_path / "results")


def test_games_in_two_ways_contradict_the_declaration(tmp_path):
    schedule = make_schedule(
        load_experiment(python(tmp_path, BY_THE_SYSTEM)).plan, deterministic=frozenset({(0, 1)})
    )
    parts = [
        decode_games(
            [encode_games(Worker(schedule).play(Task(at, at + 8, {})))],
            schedule.pairs.columns(at, at + 8),
        )
        for at in (0, 8)
    ]
    assert find_contradictions(schedule, parts) == {(0, 1)}
    assert find_contradictions(schedule, parts[:1]) == set()  # one process copies games


def test_copies_are_replaced_by_games_after_a_contradiction(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(TRIED, lambda *_: frozenset({(0, 1)}))  # a trial may miss it
    monkeypatch.setattr(repeats, "MAX_REMEMBERED", 0)
    path = python(tmp_path, BY_THE_SYSTEM)
    run_experiment_file(path, tmp_path / "results", quiet=False)
    directory = only_run(tmp_path / "results")
    assert "deterministic = true is contradicted" in capsys.readouterr().err
    assert json.loads((directory / "run.json").read_text())[FIXED] == []
    games = pd.read_parquet(directory / "games.parquet")
    assert games.game_id.nunique() > 80  # of 100, most of which had been copies
    rates = pd.read_parquet(directory / "win_rates.parquet")
    assert "census" not in set(rates.interval)
    assert (rates.counted_games > 90).all()


def test_all_openings_of_a_deterministic_bot_are_a_census(tmp_path):
    (tmp_path / "bot.py").write_text(BY_THE_BOARD)
    run_experiment_file(
        experiment_file(tmp_path, repeated(pairs=4, more=DECLARED + GREEDY)), tmp_path / "results"
    )
    rates = pd.read_parquet(only_run(tmp_path / "results") / "win_rates.parquet")
    assert set(rates.interval) == {"census"}


def test_copies_have_no_costs(tmp_path):
    ready = make_schedule(
        load_experiment(experiment_file(tmp_path, repeated())).plan,
        deterministic=frozenset({(0, 1)}),
    )
    once = Worker(ready).play(Task(0, 4, {}))
    again = repeats.copy_games(once, np.array([2, 0, 2]))
    assert all(once.columns[name].any() for name in ("first_moves", "second_nodes"))
    assert not any(again.columns[name].any() for name in COST_COLUMNS)
    assert again.game_id.tolist() == once.game_id[[4, 5, 0, 1, 4, 5]].tolist()


def test_trial_games_are_two_openings_with_two_seeds(tmp_path):
    path = python(tmp_path, BY_THE_BOARD)
    with RunDirectory(path.parent / "store", "digest") as run:
        store = run.section()
        deterministic_matches(
            make_schedule(load_experiment(path).plan), store, PlayOptions(1, Interrupts())
        )
        seen = store.read_fact("tried")
    assert [opening for _, _, opening, *_ in seen.values()] == [0, 1, 0, 1]


def test_live_interval_counts_an_opening_of_a_deterministic_match_once(tmp_path):
    ready = make_schedule(
        load_experiment(experiment_file(tmp_path, repeated())).plan,
        deterministic=frozenset({(0, 1)}),
    )
    counted, openings = ProgressCounter(RoundTracker(ready)), len(ready.openings)
    for start, stop in ((0, 3), (3, 30), (30, ready.pairs.total)):
        counted.add(start, stop, np.zeros(stop - start, np.int8))
    assert sum(counted.standings[0, 1].first) == counted.standings[0, 1].pairs == openings < 50
    assert counted.standings[0, 2].pairs == 50
