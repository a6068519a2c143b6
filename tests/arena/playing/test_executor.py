"""Results in order on any workers, after failures, deaths and signals."""

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from multiprocessing.connection import Connection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.playing import process_pool
from arena.playing.executor import ItemFailed, Job, iterate_items, run_in_order
from arena.playing.options import Interrupts, PlayOptions


def squares(run):
    """Square numbers; files named `NUMBER-FAULT` say which ones fail, and how."""
    directory, numbers = run
    for number in numbers:
        for fault in directory.glob(f"{number}-*"):
            if "once" in fault.name:
                fault.unlink()
            if "dies" in fault.name:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError(f"no square of {number}")
    return [number * number for number in numbers]


def singles(run):
    directory, numbers = run
    return [(directory, [number]) for number in numbers]


def runs_of(directory, lengths):
    at = 0
    for length in lengths:
        yield directory, list(range(at, at + length))
        at += length


def results_of(job, workers, items):
    return run_in_order(job, iterate_items(items), PlayOptions(workers, Interrupts()))


def squared(directory, lengths, workers, **changed):
    job = Job(squares, split=singles, **changed)
    results = results_of(job, workers, runs_of(directory, lengths))
    with contextlib.closing(results):
        return [square for result in results for square in result]


@pytest.mark.parametrize("workers", [1, 3])
def test_results_are_in_the_order_of_the_items(tmp_path, workers):
    lengths = [3, 1, 4, 1, 5, 9, 2, 6]
    assert squared(tmp_path, lengths, workers) == [n * n for n in range(sum(lengths))]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("fault", ["", "7-raises-once"])
def test_failure_that_does_not_return_changes_no_result(tmp_path, workers, fault):
    if fault:
        (tmp_path / fault).touch()
    lengths = [3, 1, 4, 1, 5]
    assert squared(tmp_path, lengths, workers) == [n * n for n in range(14)]


@pytest.mark.parametrize("workers", [0, 2])
def test_item_that_fails_twice_is_named(tmp_path, workers):
    (tmp_path / "3-raises").touch()
    with pytest.raises(ItemFailed, match="and again when it was repeated alone") as failure:
        squared(tmp_path, [2] * 3, workers)
    assert failure.value.item == (tmp_path, [3])
    assert "no square of 3" in failure.value.trace


def test_failure_of_a_repeated_item_is_logged(tmp_path, caplog):
    (tmp_path / "3-raises-once").touch()
    assert squared(tmp_path, [2] * 3, 0) == [n * n for n in range(6)]
    (record,) = caplog.records
    assert "games are void and played again" in record.getMessage()
    assert "no square of 3" in record.getMessage()


def test_no_items_give_no_results(tmp_path):
    assert squared(tmp_path, [], 2) == []


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("dies-once", 0),
        pytest.param("raises-once", 7, marks=pytest.mark.slow),  # other processes are tried with it
        pytest.param("dies-once", 19, marks=pytest.mark.slow),
    ],
)
def test_death_of_a_worker_changes_no_result(tmp_path, fault, number):
    (tmp_path / f"{number}-{fault}").touch()
    assert squared(tmp_path, [4] * 5, 2) == [n * n for n in range(20)]


@pytest.mark.parametrize(("fault", "trace"), [("dies", ""), ("raises", "no square of 7")])
def test_results_before_a_failing_item_are_returned(tmp_path, fault, trace):
    (tmp_path / f"7-{fault}").touch()
    found = []
    with pytest.raises(ItemFailed) as failure:
        job = Job(squares, split=singles)
        for result in results_of(job, 2, runs_of(tmp_path, [4] * 5)):
            found += result
    assert failure.value.item == (tmp_path, [7])
    assert trace in failure.value.trace
    assert bool(trace) == bool(failure.value.trace)
    assert found == [n * n for n in range(7)]


def test_excused_death_does_not_count(tmp_path):
    (tmp_path / "3-dies").touch()
    tries = Counter()

    def is_excused(part):
        tries[part[1][0]] += 1
        if tries[3] == 3:
            (tmp_path / "3-dies").unlink()
        return True

    assert squared(tmp_path, [2] * 3, 2, is_excused=is_excused) == [n * n for n in range(6)]
    assert tries == {3: 3}  # without excuse it fails at the second


def test_job_is_prepared_once_and_workers_are_restarted_after_a_death(tmp_path):
    (tmp_path / "3-dies-once").touch()
    called = []
    hooks = {name: lambda name=name: called.append(name) for name in ("prepare", "before_workers")}
    squared(tmp_path, [2] * 3, 2, **hooks)
    assert called == ["prepare", "before_workers", "before_workers", "before_workers"]


def test_only_a_few_items_are_taken_ahead(tmp_path):
    taken = []

    def items():
        for run in runs_of(tmp_path, [1] * 40):
            taken.append(run)
            yield run

    results = results_of(Job(squares, split=singles), 2, items())
    for done in range(1, 40):
        next(results)
        assert len(taken) - done <= 4
    results.close()


def test_poll_may_interrupt(monkeypatch):
    monkeypatch.setattr(process_pool, "CLOSE_SECONDS", 0.1)
    polls = []

    def poll():
        polls.append(True)
        if len(polls) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(results_of(Job(sleepy, poll=poll), 1, [60.0]))


def sleepy(seconds):
    time.sleep(seconds)
    return seconds


def test_close_does_not_wait_for_busy_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(process_pool, "CLOSE_SECONDS", 0.1)
    results = results_of(Job(sleepy), 2, [0.1, 60.0, 60.0])
    next(results)
    begun = time.monotonic()
    results.close()
    assert time.monotonic() - begun < 2.0


def dies_in_the_middle_of_its_result(flag):
    if not flag.exists():
        flag.touch()

        def half(connection, content, write=os.write):
            write(connection.fileno(), content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send = half
    return bytes(10_000)


def test_half_a_result_is_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(process_pool, "CLOSE_SECONDS", 0.1)
    threads = threading.active_count()
    flags = [tmp_path / "flag"] * 6
    results = list(results_of(Job(dies_in_the_middle_of_its_result), 2, flags))
    assert results == [bytes(10_000)] * 6
    until = time.monotonic() + 10
    while threading.active_count() > threads:  # else the program would not end
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    faults=st.dictionaries(st.integers(0, 20), st.sampled_from(["dies-once", "raises-once"])),
    workers=st.integers(1, 3),
)
def test_any_single_faults_change_no_result(tmp_path_factory, lengths, faults, workers):
    directory = tmp_path_factory.mktemp("faults")
    for number, fault in faults.items():
        (directory / f"{number}-{fault}").touch()
    assert squared(directory, lengths, workers) == [n * n for n in range(sum(lengths))]


def test_item_is_repeated_alone_twice(tmp_path):
    (tmp_path / "1-raises").touch()
    tries = []
    with pytest.raises(ItemFailed):
        squared(tmp_path, [1] * 3, 2, is_excused=lambda part: tries.append(part[1]))
    assert tries.count([1]) == 2
