"""Repeats are copies of the first games: marked, free, and the same as if they were played."""

import json
import logging

import numpy as np
import pandas as pd
import pytest

from arena.commands.verify import main as verify
from arena.config.experiment import load
from arena.planning.games import RESULT_COLUMNS, decode_games, encode_games
from arena.planning.schedule import RoundTracker, make_schedule
from arena.planning.tasks import Task
from arena.playing import worker as repeats
from arena.playing.bots import FIXED, deterministic_matches, find_contradictions
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import ProgressCounter
from arena.playing.referee_loop import RefereeLoop
from arena.playing.worker import COST_COLUMNS, Worker
from arena.storage.journal import RunDirectory
from tests.arena.running import directory_of, experiment_file, played
from tests.arena.test_pipeline import Refereed, same_records

TRIED = "arena.playing.bots.play_trial_games"
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
    """A repeated match of a user's bot against a player of ours."""
    (directory / "bot.py").write_text(source)
    return experiment_file(directory, repeated(pairs, more=bot + GREEDY))


def found(path):
    with RunDirectory(path.parent / "store", "digest") as run:
        store = run.section()
        return deterministic_matches(
            make_schedule(load(path).plan), store, PlayOptions(2, Interrupts())
        )


def test_agents_of_ours_are_known_without_a_game(tmp_path):
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
def test_a_bot_that_is_said_to_be_deterministic_is_tried(tmp_path, source, expected):
    logging.disable(logging.CRITICAL)
    try:
        assert found(python(tmp_path, source)) == expected
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("word", ["", "deterministic = false\n"])
def test_a_bot_of_which_nothing_is_said_is_never_copied_from(tmp_path, monkeypatch, word):
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried"))
    assert found(python(tmp_path, BY_THE_BOARD, BOT + word)) == set()


def test_nothing_is_tried_where_nothing_is_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried"))
    (tmp_path / "bot.py").write_text(BY_THE_BOARD)
    path = experiment_file(tmp_path, repeated(pairs=3, more=DECLARED + GREEDY))
    assert found(path) == set()


def test_copies_are_what_playing_again_gives(tmp_path):
    ready = make_schedule(load(experiment_file(tmp_path, repeated())).plan)
    ready = make_schedule(ready.plan, fixed=frozenset({(0, 1)}))
    total = ready.pairings.total
    copying, playing = Worker(ready), Worker(ready)
    playing.repeats.games = lambda block, play: play(block)
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


def test_each_opening_is_played_once_by_a_process(tmp_path, monkeypatch):
    asked = []
    play = RefereeLoop.play
    monkeypatch.setattr(
        RefereeLoop,
        "play",
        lambda self, block, *more: asked.append(block) or play(self, block, *more),
    )
    ready = make_schedule(load(python(tmp_path, BY_THE_BOARD)).plan, fixed=frozenset({(0, 1)}))
    worker = Worker(ready)
    for at in range(0, 50, 5):
        worker.play(Task(at, at + 5, {}))
    # The first batch has them all; the next ones know only what was seen to be a repeat.
    assert sum(block.size for block in asked) <= 2 * len(ready.openings)
    monkeypatch.setattr(repeats, "MAX_REMEMBERED", 0)
    before = len(asked)
    forgetful = Worker(ready)
    for at in range(5, 50, 5):
        forgetful.play(Task(at, at + 5, {}))
    assert len(asked) == before + 9


def test_repeats_have_the_seed_of_the_first_and_chance_has_new_ones(tmp_path):
    ready = make_schedule(load(experiment_file(tmp_path, repeated())).plan)
    openings = len(ready.openings)
    schedule = make_schedule(ready.plan, fixed=frozenset({(0, 1)})).pairings
    for block in schedule.blocks(0, schedule.total):
        seeds = schedule.seeds(block)
        assert len(set(seeds.tolist())) == (openings if (block.a, block.b) == (0, 1) else 50)
        rows = slice(2 * block.first, 2 * (block.first + block.size), 2)
        assert schedule.columns(0, schedule.total)["seed"][rows].tolist() == seeds.tolist()


def test_a_forfeit_is_repeated_too_and_told_once(tmp_path):
    path = python(tmp_path, RAISING_AS_SECOND, pairs=12)
    played(path, tmp_path / "results")
    directory = directory_of(tmp_path / "results")
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


def test_what_was_found_out_is_kept_for_who_goes_on(tmp_path, monkeypatch):
    path = python(tmp_path, BY_THE_BOARD, pairs=6)
    played(path, tmp_path / "results")
    monkeypatch.setattr(TRIED, lambda *_: pytest.fail("it was tried again"))
    played(path, tmp_path / "results")


def test_a_bot_that_is_seen_to_vary_is_no_longer_copied(tmp_path):
    drawn = make_schedule(load(python(tmp_path, BY_THE_SYSTEM)).plan, fixed=frozenset({(0, 1)}))
    parts = [
        decode_games(
            [encode_games(Worker(drawn).play(Task(at, at + 8, {})))],
            drawn.pairings.columns(at, at + 8),
        )
        for at in (0, 8)
    ]
    assert find_contradictions(drawn, parts) == {(0, 1)}
    assert find_contradictions(drawn, parts[:1]) == set()  # one process copies what it has played


def test_what_was_copied_is_played_once_the_games_contradict_the_declaration(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(TRIED, lambda *_: frozenset({(0, 1)}))  # a trial may miss it
    monkeypatch.setattr(repeats, "MAX_REMEMBERED", 0)
    path = python(tmp_path, BY_THE_SYSTEM)
    played(path, tmp_path / "results", quiet=False)
    directory = directory_of(tmp_path / "results")
    assert "deterministic = true is contradicted" in capsys.readouterr().err
    assert json.loads((directory / "run.json").read_text())[FIXED] == []
    games = pd.read_parquet(directory / "games.parquet")
    assert games.game_id.nunique() > 80  # of 100, most of which had been copies
    rates = pd.read_parquet(directory / "win_rates.parquet")
    assert "census" not in set(rates.interval)
    assert (rates.counted_games > 90).all()


def test_all_openings_of_a_users_steady_bot_are_a_census(tmp_path):
    (tmp_path / "bot.py").write_text(BY_THE_BOARD)
    played(
        experiment_file(tmp_path, repeated(pairs=4, more=DECLARED + GREEDY)), tmp_path / "results"
    )
    rates = pd.read_parquet(directory_of(tmp_path / "results") / "win_rates.parquet")
    assert set(rates.interval) == {"census"}


def test_a_copy_costs_nothing(tmp_path):
    ready = make_schedule(
        load(experiment_file(tmp_path, repeated())).plan, fixed=frozenset({(0, 1)})
    )
    once = Worker(ready).play(Task(0, 4, {}))
    again = repeats.copy_games(once, np.array([2, 0, 2]))
    assert all(once.columns[name].any() for name in ("first_moves", "second_nodes"))
    assert not any(again.columns[name].any() for name in COST_COLUMNS)
    assert again.game_id.tolist() == once.game_id[[4, 5, 0, 1, 4, 5]].tolist()


def test_two_openings_are_tried_with_two_seeds_each(tmp_path):
    path = python(tmp_path, BY_THE_BOARD)
    with RunDirectory(path.parent / "store", "digest") as run:
        store = run.section()
        deterministic_matches(make_schedule(load(path).plan), store, PlayOptions(1, Interrupts()))
        seen = store.read_fact("tried")
    assert [opening for _, _, opening, *_ in seen.values()] == [0, 1, 0, 1]


def test_the_live_interval_counts_an_opening_of_a_fixed_match_once(tmp_path):
    ready = make_schedule(
        load(experiment_file(tmp_path, repeated())).plan, fixed=frozenset({(0, 1)})
    )
    counted, openings = ProgressCounter(RoundTracker(ready)), len(ready.openings)
    for start, stop in ((0, 3), (3, 30), (30, ready.pairings.total)):
        counted.take(start, stop, np.zeros(stop - start, np.int8))
    assert sum(counted.standings[0, 1].first) == counted.standings[0, 1].pairings == openings < 50
    assert counted.standings[0, 2].pairings == 50
