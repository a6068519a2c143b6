"""The tournament: a stop rule that sees prefixes only, and journals that are finished."""

from dataclasses import replace

import numpy as np
import pytest

from arena.config.experiment import load
from arena.planning.games import decode_games
from arena.planning.openings.openings import first_openings
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing import play as tournament
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import StopRule, play_schedule
from arena.playing.worker import Worker
from arena.storage.journal import RunDirectory
from tests.arena.running import experiment_file, small

SPRT = "stop = { sprt = { elo0 = 0, elo1 = 200 } }"


@pytest.fixture
def tested(tmp_path):
    """A test of a strong agent against random play, which stops soon."""
    text = small(300, SPRT, plies=8) + '[agents.strong]\nkind = "alphabeta"\ndepth = 3\n'
    return make_schedule(load(experiment_file(tmp_path, text)).plan)


def stopped_at(ready, sizes):
    """The pairing at which the rule stops when batches have these sizes."""
    stop, at, worker = StopRule(ready), 0, Worker(ready)
    while not stop.is_reached:
        batch = worker.batch(Task(at, at + sizes[at % len(sizes)], {}))
        kept = stop.truncate_batch(batch)
        games = decode_games([kept.games], ready.pairings.columns(kept.start, kept.stop))
        assert len(games) == 2 * len(kept.points) == 2 * (kept.stop - kept.start)
        assert games.plies.sum() == len(games.moves)
        at = batch.stop
    return kept.stop, stop.state


def test_the_stop_rule_does_not_depend_on_batches(tested):
    one, state = stopped_at(tested, [1])
    assert state.stopped
    assert 1 < one < 300
    for sizes in ([7], [50], [300], [3, 20, 1]):
        assert stopped_at(tested, sizes)[0] == one


def test_openings_played_again_are_no_evidence(tested):
    few = make_schedule(replace(tested.plan, pairs=5), first_openings(tested.openings, 5))
    rule = StopRule(few)
    rule.add_points(0, np.zeros(300, np.int8))
    assert rule.state.observations == 5
    rule.add_points(300, np.zeros(300, np.int8))
    assert rule.state.observations == 5


def test_playing_on_a_finished_journal_plays_nothing(tested, tmp_path, monkeypatch):
    options, shown = PlayOptions(2, Interrupts()), []
    with RunDirectory(tmp_path / "run", "x") as run:
        store = run.section()
        first = play_schedule(tested, store, options, show=shown.append)
        assert shown[-1].done == store.finished()
        monkeypatch.setattr(tournament, "GameJob", None)
        assert play_schedule(tested, store, options, show=shown.append) == first
