"""The tournament: batches sized as they are played, and a stop rule that sees prefixes only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.keeping.game_blobs import decoded
from arena.keeping.journal import Journal
from arena.playing import tournament
from arena.playing.interrupts import Interrupts
from arena.playing.tournament import MOST, Pace, Run, StopRule, play, prepare, single_pairings
from arena.playing.workers import Batch, Task, Worker, install, play_task
from arena.reading.experiment_file import load
from tests.arena.running import experiment_file, small

SPRT = "stop = { sprt = { elo0 = 0, elo1 = 200 } }"


@given(st.integers(0, 500), st.integers(0, 500), st.lists(st.floats(0, 10), max_size=40))
def test_batches_cut_what_is_left_without_a_gap(done, left, seconds):
    pace, at = Pace(done, done + left), done
    for task, took in zip(pace.tasks(), seconds, strict=False):
        assert task.start == at < task.stop <= done + left
        at = task.stop
        pace.learn(Batch(task.start, task.stop, b"", np.zeros(0, np.int8), took))
    if not seconds or len(seconds) > left:
        assert sum(task.stop - task.start for task in Pace(done, done + left).tasks()) == left


def test_batches_grow_until_they_take_their_time():
    pace, sizes = Pace(0, 10**9), []
    for _, task in zip(range(12), pace.tasks(), strict=False):
        size = task.stop - task.start
        sizes.append(size)
        pace.learn(Batch(task.start, task.stop, b"", np.zeros(0, np.int8), size * 1e-5))
    assert sizes[0] == 1
    assert sizes[-1] == int(tournament.BATCH_SECONDS / 1e-5)
    slow = Batch(0, sizes[-1], b"", np.zeros(0, np.int8), 60.0)
    pace.learn(slow)
    assert pace.size == int(tournament.BATCH_SECONDS * sizes[-1] / 60.0)
    pace.learn(Batch(0, 1, b"", np.zeros(0, np.int8), 0.0))
    assert pace.size <= MOST


def test_a_task_splits_into_its_pairings():
    parts = single_pairings(Task(3, 6, {}))
    assert [(part.start, part.stop) for part in parts] == [(3, 4), (4, 5), (5, 6)]


@pytest.fixture
def tested(tmp_path):
    """A test of a strong agent against random play, which stops soon."""
    text = small(300, SPRT, plies=8) + '[agents.strong]\nkind = "alphabeta"\ndepth = 3\n'
    ready = prepare(load(experiment_file(tmp_path, text)).plan)
    install(Worker(ready.job))
    return ready


def stopped_at(ready, sizes):
    """The pairing at which the rule stops when batches have these sizes."""
    run, at = Run(ready, lambda tick: None), 0
    while run.wants_more:
        batch = play_task(Task(at, at + sizes[at % len(sizes)], {}))
        kept = run.stop.cut(batch, ready.schedule)
        games = decoded([kept.games], ready.schedule.columns(kept.start, kept.stop))
        assert len(games) == 2 * (kept.stop - kept.start)
        run.take(kept.start, kept.stop, kept.points)
        at = batch.stop
    return run.done, run.stop.state


def test_the_stop_rule_does_not_depend_on_batches(tested):
    one, state = stopped_at(tested, [1])
    assert state.stopped
    assert 1 < one < 300
    for sizes in ([7], [50], [300], [3, 20, 1]):
        assert stopped_at(tested, sizes)[0] == one


def test_openings_played_again_are_no_evidence(tested):
    rule = StopRule(
        tested._replace(
            openings=tested.openings.__class__(
                tested.openings.slots[:5], tested.openings.keys[:5], False
            )
        )
    )
    rule.see(np.zeros(300), 0)
    assert rule.state.observations == 5
    rule.see(np.zeros(300), 300)
    assert rule.state.observations == 5


def test_playing_on_a_finished_journal_plays_nothing(tested, tmp_path, monkeypatch):
    interrupts, shown = Interrupts(), []
    with Journal(tmp_path / "run", "x") as store:
        first = play(tested, store, 2, shown.append, interrupts)
        assert shown[-1].done == store.finished()
        monkeypatch.setattr(tournament, "in_order", None)
        monkeypatch.setattr(tournament, "get_ready", None)
        assert play(tested, store, 2, shown.append, interrupts) == first
