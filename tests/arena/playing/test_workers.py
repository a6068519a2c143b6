"""The worker: compilation before the fork, and the same games from both loops."""

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.config.experiment import load_experiment
from arena.planning.games import Termination, decode_games
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing import compiled_loop, worker
from arena.playing.worker import Worker
from tests.arena.running import experiment_file, small
from tests.arena.test_pipeline import EVALUATION, NOISY, OWN, same_records


@pytest.fixture
def ready(tmp_path):
    return make_schedule(load_experiment(experiment_file(tmp_path, small(30) + NOISY)).plan)


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(EVALUATION)
    return make_schedule(load_experiment(experiment_file(tmp_path, small(30) + OWN)).plan)


def test_compiled_worker_compiles_nothing_while_it_plays(ready):
    compiled = Worker(ready)
    compiled.compile_agents()
    kernels = compiled.agent(0).kernels
    before = [len(each.signatures) for each in (kernels.play_games, kernels.choose)]
    assert min(before) > 0
    compiled.play(Task(0, ready.pairs.total, {}))
    assert [len(each.signatures) for each in (kernels.play_games, kernels.choose)] == before


def test_task_may_begin_and_end_anywhere(ready):
    whole = Worker(ready).play(Task(0, ready.pairs.total, {}))
    other, at = Worker(ready), 0
    for size in (1, 7, 22, 5, 40, 15):
        part = other.play(Task(at, at + size, {}))
        rows = slice(2 * at, 2 * (at + size))
        assert part.game_id.tolist() == whole.game_id[rows].tolist()
        assert part.result.tolist() == whole.result[rows].tolist()
        at += size


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (512, 512)])
def test_size_of_compiled_calls_changes_nothing(ready, monkeypatch, sizes):
    expected = Worker(ready).play(Task(0, 90, {}))
    monkeypatch.setattr(compiled_loop, "PAIRS_AT_ONCE", sizes[0])
    monkeypatch.setattr(compiled_loop, "SEEDS_AT_ONCE", sizes[1])
    same_records(Worker(ready).play(Task(0, 90, {})), expected)


def test_buffers_grow_when_a_game_does_not_fit(ready):
    expected = Worker(ready).play(Task(0, 90, {}))
    small_buffers = Worker(ready)
    small_buffers.compiled_loop.max_plies = 6
    small_buffers.compiled_loop._allocate()
    same_records(small_buffers.play(Task(0, 90, {})), expected)
    assert small_buffers.compiled_loop.max_plies > 6


def test_game_that_is_too_long_goes_to_the_referee(ready, monkeypatch):
    expected = Worker(ready).play(Task(0, 30, {}))
    monkeypatch.setattr(compiled_loop, "MAX_PLIES", 8)
    small_buffers = Worker(ready)
    small_buffers.compiled_loop.max_plies = 8
    small_buffers.compiled_loop._allocate()
    same_records(small_buffers.play(Task(0, 30, {})), expected)


def test_evaluation_that_raises_forfeits_and_plays_on(own):
    task = Task(0, 30, {})
    games = Worker(own).play(task)
    same_records(Worker(own).play(task), games)
    assert set(games.termination.tolist()) == {Termination.NORMAL, Termination.RAISED}


def test_batch_has_games_points_and_seconds(ready):
    batch = Worker(ready).play_batch(Task(3, 20, {}))
    games = decode_games([batch.blob], ready.pairs.columns(3, 20))
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
        return self.compiled.choose_fast(position)


def test_agent_that_is_not_compiled_plays_like_one_that_is(ready, monkeypatch):
    build = worker.create_agent

    def built(spec, of, terms):
        agent = build(spec, of, terms)
        return Plain(agent) if spec.kind == "random" else agent

    task = Task(0, ready.pairs.total, {})
    expected = Worker(ready).play(task)
    monkeypatch.setattr(worker, "create_agent", built)
    compiled = Worker(ready)
    compiled.compile_agents()
    same_records(compiled.play(task), expected)


def test_agent_is_built_once(ready, monkeypatch):
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


def test_games_of_the_first_leg_stay_when_the_second_needs_larger_buffers(tmp_path):
    schedule = make_schedule(load_experiment(experiment_file(tmp_path, small(40) + NOISY)).plan)
    agents_of, grown = Worker(schedule).agent, 0
    for block in (part for each in schedule.pairs.blocks(0, 40) for part in each.split(1)):
        agents = agents_of(block.a), agents_of(block.b)
        expected = compiled_loop.CompiledLoop(schedule).play(block, agents)
        first, second = expected.columns["plies"].tolist()
        if first >= second:
            continue
        loop = compiled_loop.CompiledLoop(schedule)
        loop.max_plies = first
        loop._allocate()
        games = loop.play(block, agents)
        for name in ("plies", "margin", "game_id", "first_moves", "first_nodes", "second_nodes"):
            assert np.array_equal(games.columns[name], expected.columns[name]), name
        assert games.moves.tolist() == expected.moves.tolist()
        grown += loop.max_plies > first
    assert grown > 5


def test_longest_game_has_twenty_thousand_plies():
    assert compiled_loop.MAX_PLIES == 20_000
