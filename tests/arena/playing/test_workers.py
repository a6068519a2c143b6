"""The worker: which loop it takes, what it builds before the fork, and when it is wary."""

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.config.experiment import load
from arena.planning.games import Termination, decode_games
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing import compiled_loop, worker
from arena.playing.worker import Worker
from tests.arena.running import experiment_file, small
from tests.arena.test_pipeline import EVALUATION, NOISY, OWN, same_records


@pytest.fixture
def ready(tmp_path):
    return make_schedule(load(experiment_file(tmp_path, small(30) + NOISY)).plan)


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(EVALUATION)
    return make_schedule(load(experiment_file(tmp_path, small(30) + OWN)).plan)


def test_a_warm_worker_has_compiled_all_that_it_calls(ready):
    warm = Worker(ready)
    warm.warm()
    kernels = warm.agent(0).kernels
    before = [len(each.signatures) for each in (kernels.play_games, kernels.choose)]
    assert min(before) > 0
    warm.play(Task(0, ready.pairings.total, {}))
    assert [len(each.signatures) for each in (kernels.play_games, kernels.choose)] == before


def test_a_task_may_begin_and_end_anywhere(ready):
    whole = Worker(ready).play(Task(0, ready.pairings.total, {}))
    other, at = Worker(ready), 0
    for size in (1, 7, 22, 5, 40, 15):
        part = other.play(Task(at, at + size, {}))
        rows = slice(2 * at, 2 * (at + size))
        assert part.game_id.tolist() == whole.game_id[rows].tolist()
        assert part.result.tolist() == whole.result[rows].tolist()
        at += size


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (512, 512)])
def test_the_size_of_compiled_calls_changes_nothing(ready, monkeypatch, sizes):
    expected = Worker(ready).play(Task(0, 90, {}))
    monkeypatch.setattr(compiled_loop, "PAIRINGS_AT_ONCE", sizes[0])
    monkeypatch.setattr(compiled_loop, "SEEDS_AT_ONCE", sizes[1])
    same_records(Worker(ready).play(Task(0, 90, {})), expected)


def test_room_for_moves_grows_when_a_game_does_not_fit(ready):
    expected = Worker(ready).play(Task(0, 90, {}))
    cramped = Worker(ready)
    cramped.compiled_loop.longest = 6
    cramped.compiled_loop._make_room()
    same_records(cramped.play(Task(0, 90, {})), expected)
    assert cramped.compiled_loop.longest > 6


def test_a_game_that_no_room_holds_goes_to_the_referee(ready, monkeypatch):
    expected = Worker(ready).play(Task(0, 30, {}))
    monkeypatch.setattr(compiled_loop, "LONGEST", 8)
    cramped = Worker(ready)
    cramped.compiled_loop.longest = 8
    cramped.compiled_loop._make_room()
    same_records(cramped.play(Task(0, 30, {})), expected)


def test_own_evaluations_forfeit_where_they_raise_and_play_on(own):
    task = Task(0, 30, {})
    games = Worker(own).play(task)
    same_records(Worker(own).play(task), games)
    assert set(games.termination.tolist()) == {Termination.NORMAL, Termination.RAISED}


def test_a_batch_is_packed_and_scored(ready):
    batch = Worker(ready).batch(Task(3, 20, {}))
    games = decode_games([batch.games], ready.pairings.columns(3, 20))
    points = games.result[0::2] / 4 + (2 - games.result[1::2]) / 4
    assert np.array_equal(batch.points / 4, points)
    assert (batch.start, batch.stop) == (3, 20)
    assert batch.seconds > 0


class Plain:
    """An agent that must be asked move by move, whatever is behind it."""

    def __init__(self, compiled):
        self.spec, self.compiled = compiled.spec, compiled

    def start(self, seed):
        self.compiled.start(seed)

    def choose(self, position, limit=None):
        return self.compiled.decide(position)


def test_an_agent_that_is_not_compiled_plays_like_one_that_is(ready, monkeypatch):
    build = worker.create_agent

    def built(spec, of, terms):
        agent = build(spec, of, terms)
        return Plain(agent) if spec.kind == "random" else agent

    task = Task(0, ready.pairings.total, {})
    expected = Worker(ready).play(task)
    monkeypatch.setattr(worker, "create_agent", built)
    warm = Worker(ready)
    warm.warm()
    same_records(warm.play(task), expected)


def test_an_agent_is_built_once(ready, monkeypatch):
    built = []
    plain = worker.create_agent
    monkeypatch.setattr(
        worker, "create_agent", lambda spec, *more: built.append(spec) or plain(spec, *more)
    )
    busy = Worker(ready)
    for start in range(0, 90, 10):
        busy.play(Task(start, start + 10, {}))
    assert len(built) == 3
    assert all(isinstance(spec, AgentSpec) for spec in built)
