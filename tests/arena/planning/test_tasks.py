"""Tasks: what is left of a schedule, cut as it is played."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.planning.games import Batch
from arena.planning.schedule import PairOrder
from arena.planning.tasks import BATCH_SECONDS, MOST, AgentCosts, Task, TaskQueue

ONE = np.zeros(1, np.int8)


def tasks_for(after, total):
    """The tasks of one match of so many pairings."""
    return TaskQueue(
        after, PairOrder(1, "", ("a", "b"), ((0, 1),), total, np.ones(1, np.uint64), ONE)
    )


def tasks_of(tasks):
    return iter(tasks.next_task, None)


@given(st.integers(0, 500), st.integers(0, 500), st.lists(st.floats(0, 10), max_size=40))
def test_batches_cut_what_is_left_without_a_gap(done, left, seconds):
    tasks, at = tasks_for(done, done + left), done
    for task, took in zip(tasks_of(tasks), seconds, strict=False):
        assert task.start == at < task.stop <= done + left
        at = task.stop
        tasks.learn(Batch(task.start, task.stop, b"", np.zeros(0, np.int8), took))
    if not seconds or len(seconds) > left:
        assert (
            sum(task.stop - task.start for task in tasks_of(tasks_for(done, done + left))) == left
        )


def test_batches_grow_until_they_take_their_time():
    tasks, sizes = tasks_for(0, 10**9), []
    for _, task in zip(range(12), tasks_of(tasks), strict=False):
        size = task.stop - task.start
        sizes.append(size)
        tasks.learn(Batch(task.start, task.stop, b"", np.zeros(0, np.int8), size * 1e-5))
    assert sizes[0] == 1
    assert sizes[-1] == int(BATCH_SECONDS / 1e-5)
    slow = Batch(0, sizes[-1], b"", np.zeros(0, np.int8), 60.0)
    tasks.learn(slow)
    assert tasks.sizes[""] == int(BATCH_SECONDS * sizes[-1] / 60.0)
    for _ in range(9):
        tasks.learn(Batch(0, 1000, b"", np.zeros(0, np.int8), 0.0))
    assert tasks.sizes[""] == MOST


def test_tasks_are_as_large_as_their_worker_is_fast():
    tasks, seconds = tasks_for(0, 10**9), {"slow": 1e-3, "fast": 1e-5}
    for name, each in [*seconds.items()] * 12:
        task = tasks.next_task(name)
        took = (task.stop - task.start) * each
        tasks.learn(Batch(task.start, task.stop, b"", np.zeros(0, np.int8), took, name))
    assert tasks.sizes == {name: int(BATCH_SECONDS / each) for name, each in seconds.items()}
    task = tasks.next_task("new")
    assert task.stop - task.start == 1


def test_a_task_splits_into_its_pairings():
    parts = Task(3, 6, {}, out=(1,)).split()
    assert [(part.start, part.stop) for part in parts] == [(3, 4), (4, 5), (5, 6)]
    assert all(part.out == (1,) for part in parts)


def batch_of(task, took):
    return Batch(task.start, task.stop, b"", np.zeros(0, np.int8), took)


def test_a_task_of_fast_games_does_not_run_into_slow_ones():
    names, seconds = ("a", "b", "slow", "slower"), (1e-6, 1e-6, 0.02, 0.05)
    matches = tuple((a, b) for a in range(4) for b in range(a + 1, 4))
    pairings = PairOrder(1, "", names, matches, 200, np.ones(1, np.uint64), ONE)
    tasks, times, order = TaskQueue(0, pairings), [], []
    for task in tasks_of(tasks):
        blocks = pairings.blocks(task.start, task.stop)
        times.append(sum(each.size * (seconds[each.a] + seconds[each.b]) for each in blocks))
        order.append(task.stop - task.start)
        tasks.learn(batch_of(task, times[-1]))
    assert sum(order) == pairings.total
    assert max(times) < 1.5 * BATCH_SECONDS
    assert max(order) > 100  # what is fast goes in large tasks


def test_agents_cost_what_the_others_do_not_explain():
    costs = AgentCosts(3)
    costs.learn(np.array([[0, 1]] * 4), 8.0)
    assert costs.seconds[:2].tolist() == [1.0, 1.0]
    costs.learn(np.array([[0, 2], [0, 2]]), 12.0)
    assert costs.seconds.tolist() == [1.0, 1.0, 5.0]
    costs.learn(np.array([[1, 2]]), 12.0)
    assert costs.seconds.tolist() == [1.0, 2.0, 10.0]
    sides = np.array([[0, 1], [0, 1], [0, 2]])
    assert costs.pairs_within(sides, 6.0, np.zeros(3, np.bool_)) == 2
    assert costs.pairs_within(sides, 6.0, np.array([False, False, True])) == 3
    assert AgentCosts(2).pairs_within(sides[:1], 9.0, np.zeros(1, np.bool_)) == 0


def test_games_that_are_forfeited_unplayed_show_no_speed():
    names = ("excluded", "slow", "slower")
    pairings = PairOrder(1, "", names, ((0, 1), (0, 2), (1, 2)), 100, np.ones(1, np.uint64), ONE)
    tasks = TaskQueue(0, pairings)
    tasks.out = {0}
    taken = [(task, tasks.learn(batch_of(task, 1e-3)))[0] for task in tasks_of(tasks)][:10]
    assert taken[-1].stop >= 200  # they need few tasks
    first = next(task for task in taken if task.stop > 200)
    assert first.stop == max(200, first.start) + 1  # and the first played pairing ends one
