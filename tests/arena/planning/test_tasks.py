"""Tasks: a schedule is cut without gaps, by the times of earlier batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.planning.games import Batch
from arena.planning.schedule import PairOrder
from arena.planning.tasks import BATCH_SECONDS, MAX_PAIRS, AgentCosts, Task, TaskQueue


def queue(after, names, matches, pairs):
    keys, sides = np.ones(1, np.uint64), np.zeros(1, np.int8)
    return TaskQueue(after, PairOrder(1, "", names, matches, pairs, keys, sides))


def one_match(after, total):
    return queue(after, ("a", "b"), ((0, 1),), total)


def tasks_of(tasks):
    return iter(tasks.next_task, None)


def batch_of(task, seconds, worker=""):
    return Batch(task.start, task.stop, b"", np.zeros(0, np.int8), seconds, worker)


@given(st.integers(0, 500), st.integers(0, 500), st.lists(st.floats(0, 10), max_size=40))
def test_tasks_cover_the_rest_without_a_gap(done, left, seconds):
    tasks, at = one_match(done, done + left), done
    for task, taken in zip(tasks_of(tasks), seconds, strict=False):
        assert task.start == at < task.stop <= done + left
        at = task.stop
        tasks.learn(batch_of(task, taken))
    sizes = [task.stop - task.start for task in tasks_of(one_match(done, done + left))]
    assert sum(sizes) == left


def test_tasks_grow_until_they_take_their_time():
    tasks, sizes = one_match(0, 10**9), []
    for _, task in zip(range(12), tasks_of(tasks), strict=False):
        sizes.append(task.stop - task.start)
        tasks.learn(batch_of(task, sizes[-1] * 1e-5))
    assert sizes[0] == 1
    assert sizes[-1] == int(BATCH_SECONDS / 1e-5)
    tasks.learn(batch_of(Task(0, sizes[-1], {}), 60.0))
    assert tasks.sizes[""] == int(BATCH_SECONDS * sizes[-1] / 60.0)
    for _ in range(9):
        tasks.learn(batch_of(Task(0, 1000, {}), 0.0))
    assert tasks.sizes[""] == MAX_PAIRS


def test_faster_workers_get_larger_tasks():
    tasks, seconds = one_match(0, 10**9), {"slow": 1e-3, "fast": 1e-5}
    for name, each in [*seconds.items()] * 12:
        task = tasks.next_task(name)
        tasks.learn(batch_of(task, (task.stop - task.start) * each, name))
    assert tasks.sizes == {name: int(BATCH_SECONDS / each) for name, each in seconds.items()}
    task = tasks.next_task("new")
    assert task.stop - task.start == 1


def test_task_splits_into_its_pairs():
    parts = Task(3, 6, {}, disqualified=(1,)).split()
    assert [(part.start, part.stop) for part in parts] == [(3, 4), (4, 5), (5, 6)]
    assert all(part.disqualified == (1,) for part in parts)


def test_task_of_fast_games_ends_before_slow_ones():
    names, seconds = ("a", "b", "slow", "slower"), (1e-6, 1e-6, 0.02, 0.05)
    tasks = queue(0, names, tuple((a, b) for a in range(4) for b in range(a + 1, 4)), 200)
    times, sizes = [], []
    for task in tasks_of(tasks):
        blocks = tasks.pairs.blocks(task.start, task.stop)
        times.append(sum(each.size * (seconds[each.a] + seconds[each.b]) for each in blocks))
        sizes.append(task.stop - task.start)
        tasks.learn(batch_of(task, times[-1]))
    assert sum(sizes) == tasks.pairs.total
    assert max(times) < 1.5 * BATCH_SECONDS
    assert max(sizes) > 100


def test_new_agents_cost_what_the_others_do_not_explain():
    costs = AgentCosts(3)
    costs.learn(np.array([[0, 1]] * 4), 8.0)
    assert costs.seconds[:2].tolist() == [1.0, 1.0]
    costs.learn(np.array([[0, 2], [0, 2]]), 12.0)
    assert costs.seconds.tolist() == [1.0, 1.0, 5.0]
    costs.learn(np.array([[1, 2]]), 12.0)
    assert costs.seconds.tolist() == [1.0, 2.0, 10.0]
    agents = np.array([[0, 1], [0, 1], [0, 2]])
    assert costs.pairs_within(agents, 6.0, np.zeros(3, np.bool_)) == 2
    assert costs.pairs_within(agents, 6.0, np.array([False, False, True])) == 3
    assert AgentCosts(2).pairs_within(agents[:1], 9.0, np.zeros(1, np.bool_)) == 0


def test_unplayed_games_do_not_count_as_fast():
    names = ("disqualified", "slow", "slower")
    tasks = queue(0, names, ((0, 1), (0, 2), (1, 2)), 100)
    tasks.disqualified = {0}
    taken = [(task, tasks.learn(batch_of(task, 1e-3)))[0] for task in tasks_of(tasks)][:10]
    assert taken[-1].stop >= 200  # unplayed pairs need few tasks
    first = next(task for task in taken if task.stop > 200)
    assert first.stop == max(200, first.start) + 1
