"""The Dask executor with simulated workers: queues, losses, duplicates, admission."""

import pickle
import time
from collections import deque
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from arena.playing.cluster import connection, dask_executor
from arena.playing.cluster.connection import ClusterLost, ClusterUnavailable, WorkerRegistry
from arena.playing.cluster.dask_executor import MAX_AHEAD, QUEUE_PER_SLOT, DaskExecutor
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import Calibration, ItemReply
from arena.playing.cluster.remote_worker import AdmissionReply, prepare_worker, run_item
from arena.playing.executor import WorkFailed
from arena.storage import provenance

PACKAGE = WorkPackage("no:maker", b"", {}, False, {})
ADMITTED = AdmissionReply(Calibration(1.0, "same"))


class SimulatedCluster:
    """A simulated cluster whose calls end when a test finishes them."""

    address = "tcp://cluster"

    def __init__(self, **slots: int) -> None:
        self.workers, self.calls, self.events = WorkerRegistry(), [], deque()
        self.replies = {}
        self.present, self.odd = {}, {}
        for name, each in slots.items():
            self.join(name, each)

    def join(self, name, slots=1, host=None, answer=ADMITTED):
        self.present[name] = {
            "name": name, "host": host or name, "nthreads": slots, "status": "running",
            "last_seen": time.monotonic(),
        }  # fmt: skip
        self.replies[name] = answer
        self.workers.update(self.present)

    def leave(self, name):
        del self.present[name]
        self.workers.update(self.present)

    def call(self, worker, then, function, *words):
        if function is prepare_worker:
            self.events.append(lambda: then(done(self.replies[worker])))
            return None
        assert function is run_item
        item = pickle.loads(words[1])
        call = SimpleNamespace(worker=worker, item=item, then=then, dropped=False)
        call.drop = lambda: setattr(call, "dropped", True)
        self.calls.append(call)
        return call

    def request_versions(self, _worker, packages, then):
        here = provenance.package_versions()
        said = {
            "packages": {name: here[name] for name in packages} | self.odd,
            "host": {"python": self.odd.get("python", f"{here['python']}.final.0")},
        }
        self.events.append(lambda: then(done({"it": said}, plain=True)))

    def process_events(self, seconds):
        self.workers.clock.seconds += seconds
        happened = bool(self.events)
        while self.events:
            self.events.popleft()()
        return happened

    def has_no_result(self, future):
        return future.cancelled()

    def calls_at(self, worker):
        return [call for call in self.calls if call.worker == worker and not call.dropped]

    def finish(self, call, reply=None):
        self.calls.remove(call)
        answer = ItemReply(call.item**2) if reply is None else reply
        self.events.append(lambda: call.then(done(answer)))


def done(answer, plain=False):
    future = Future()
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer if plain or answer == b"" else pickle.dumps(answer))
    return future


def full_executor(cluster, sent=PACKAGE, alone=False, items=10**6):
    """An executor with as many items as it accepts."""
    executor = DaskExecutor(cluster, sent, alone, lambda: None)
    fill(executor, iter(range(items)))
    return executor


def fill(executor, items):
    while executor.next_worker() is not None and (item := next(items, None)) is not None:
        executor.submit(item)


def take_results(executor, count):
    results = []
    while len(results) < count:
        if (result := executor.next_result(lambda: None)) is not None:
            results.append(result)
    return results


def test_every_slot_has_a_queue():
    cluster = SimulatedCluster(one=1, four=4)
    full_executor(cluster)
    assert len(cluster.calls_at("one")) == QUEUE_PER_SLOT
    assert len(cluster.calls_at("four")) == 4 * QUEUE_PER_SLOT


def test_results_are_in_order_and_few_items_wait_for_the_oldest():
    cluster, items = SimulatedCluster(slow=1, fast=1), iter(range(10**6))
    executor = DaskExecutor(cluster, PACKAGE, False, lambda: None)
    fill(executor, items)
    while calls := cluster.calls_at("fast"):
        cluster.finish(calls[0])
        executor._step()
        fill(executor, items)
    assert len(executor.pending) == 2 * MAX_AHEAD  # so the client's memory is flat
    for call in cluster.calls_at("slow"):
        cluster.finish(call)
    assert take_results(executor, 2 * MAX_AHEAD) == [number**2 for number in range(2 * MAX_AHEAD)]


def test_items_of_a_lost_worker_are_reassigned():
    cluster = SimulatedCluster(mortal=1, other=1)
    executor = full_executor(cluster, items=3)
    assert len(cluster.calls_at("other")) < 3
    cluster.leave("mortal")
    executor._step()
    assert {call.item for call in cluster.calls_at("other")} == {0, 1, 2}
    for call in cluster.calls_at("other"):
        cluster.finish(call)
    assert take_results(executor, 3) == [0, 1, 4]


@pytest.mark.parametrize(("alone", "deaths"), [(False, dask_executor.DEATHS), (True, 1)])
def test_item_that_loses_its_workers_fails(alone, deaths):
    cluster = SimulatedCluster(a=1, b=1, c=1)
    executor = full_executor(cluster, alone=alone, items=1)
    for _ in range(deaths):
        (call,) = [call for call in cluster.calls if not call.dropped]
        cluster.leave(call.worker)
        executor._step()
    with pytest.raises(WorkFailed) as failure:
        take_results(executor, 1)
    assert (failure.value.trace, failure.value.worker) == ("", call.worker)


def test_only_the_item_in_work_is_suspected_of_a_death():
    cluster = SimulatedCluster(a=1)
    executor = full_executor(cluster, items=3)
    cluster.leave("a")
    executor._step()
    assert [item.deaths for item in executor.pending] == [1, 0, 0]


def test_failure_is_raised_when_it_is_the_oldest():
    cluster = SimulatedCluster(a=1)
    executor = full_executor(cluster, items=2)
    first, second = cluster.calls_at("a")
    cluster.finish(second, ItemReply(None, "ValueError: no"))
    cluster.finish(first)
    assert take_results(executor, 1) == [0]
    with pytest.raises(WorkFailed, match="no") as failure:
        take_results(executor, 1)
    assert failure.value.text == "at worker a: ValueError: no"


def test_void_games_are_logged_with_the_worker(caplog):
    cluster = SimulatedCluster(a=1)
    executor = full_executor(cluster, items=1)
    cluster.finish(cluster.calls_at("a")[0], ItemReply(0, void_failure="ValueError: once"))
    assert take_results(executor, 1) == [0]
    assert "games were void at worker a: ValueError: once" in caplog.text


def test_late_item_is_given_to_an_idle_worker_too(monkeypatch):
    monkeypatch.setattr(dask_executor, "LATE_SECONDS", 0.0)
    cluster = SimulatedCluster(stalled=1, good=1)
    executor = full_executor(cluster, items=2)
    (late,), (quick,) = cluster.calls_at("stalled"), cluster.calls_at("good")
    cluster.finish(quick)
    executor._step()
    executor.durations.clear()
    executor.durations.append(1e-9)
    executor._step()
    (copy,) = cluster.calls_at("good")
    assert copy.item == late.item
    cluster.finish(copy)
    assert take_results(executor, 2) == [0, 1]
    assert late.dropped


def test_silent_worker_gets_no_items(monkeypatch):
    cluster = SimulatedCluster(silent=1, good=1)
    executor = full_executor(cluster, items=2)
    cluster.finish(cluster.calls_at("good")[0])
    executor._step()
    monkeypatch.setattr(connection, "WORKER_SILENT_SECONDS", -1.0)
    cluster.workers.present["good"].heard = 99.0
    executor._step()
    assert [call.item for call in cluster.calls_at("good")] == [cluster.calls_at("silent")[0].item]
    assert executor.next_worker() == "good"


def test_worker_that_forgot_the_package_is_admitted_again():
    cluster = SimulatedCluster(a=1)
    executor = full_executor(cluster, items=1)
    cluster.finish(cluster.calls_at("a")[0], b"")
    for _ in range(3):
        executor._step()
    cluster.finish(cluster.calls_at("a")[0])
    assert take_results(executor, 1) == [0]


def test_failing_worker_is_excluded(capsys):
    cluster = SimulatedCluster(bad=1, good=1)
    executor = full_executor(cluster, items=12)
    for _ in range(connection.MAX_FAILURES):
        cluster.finish(cluster.calls_at("bad")[0], OSError("No space left on device"))
        executor._step()
    assert "bad is left out: OSError('No space left on device')" in capsys.readouterr().err
    assert {call.worker for call in cluster.calls if not call.dropped} <= {"bad", "good"}
    assert executor._usable() == [cluster.workers.present["good"]]


# Admission.


def test_refused_worker_is_excluded_and_named(capsys):
    cluster = SimulatedCluster(good=1)
    cluster.join("other", answer=AdmissionReply(None, "it has numba 0.1, here it is 0.2"))
    full_executor(cluster)
    assert capsys.readouterr().err == "other is left out: it has numba 0.1, here it is 0.2\n"
    assert not cluster.calls_at("other")


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"python": "3.10.1.final.0"}, "it has python 3.10.1, here it is "),
        ({"numba": "0.1"}, "it has numba 0.1, here it is "),
        ({"pitflip": None}, "it has no pitflip, here it is "),
    ],
)
def test_worker_with_other_versions_gets_no_package(odd, reason):
    cluster = SimulatedCluster(a=1)
    cluster.odd = odd
    with pytest.raises(ClusterUnavailable, match=f"no worker at tcp://cluster can play: {reason}"):
        full_executor(cluster)
    assert not cluster.calls


def test_reason_is_one_line_if_no_worker_can_play():
    cluster = SimulatedCluster()
    cluster.join("other", answer=AdmissionReply(None, "it has numba 0.1, here it is 0.2"))
    with pytest.raises(
        ClusterUnavailable, match=r"no worker at tcp://cluster can play: it has numba 0\.1"
    ):
        full_executor(cluster)


def test_wait_for_workers_has_a_limit(monkeypatch):
    monkeypatch.setattr(dask_executor, "WAIT_SECONDS", 0.05)
    with pytest.raises(ClusterLost, match=r"has had no workers for 0\.05 s"):
        full_executor(SimulatedCluster())


def test_worker_that_plays_other_games_is_excluded(capsys):
    cluster = SimulatedCluster(a=1, b=1)
    cluster.join("odd", answer=AdmissionReply(Calibration(1.0, "other")))
    full_executor(cluster)
    assert "odd is left out: it plays other games" in capsys.readouterr().err
    assert not cluster.calls_at("odd")


EQUAL_SPEED = PACKAGE._replace(equal_speed=True)


def test_machines_of_different_speed_are_refused_for_games_by_the_clock():
    cluster = SimulatedCluster(slow=1)
    cluster.join("fast", answer=AdmissionReply(Calibration(0.5, "same")))
    with pytest.raises(
        ClusterUnavailable, match="fast is 2 times as fast as slow, and agents play by"
    ):
        full_executor(cluster, EQUAL_SPEED)
    full_executor(cluster)  # without clocks they may
    assert cluster.workers.relative_speeds() == {"slow": 0.5, "fast": 1.0}


def test_faster_machine_that_joins_later_is_excluded_from_games_by_the_clock(capsys):
    cluster = SimulatedCluster(slow=1)
    executor = full_executor(cluster, EQUAL_SPEED)
    cluster.join("fast", answer=AdmissionReply(Calibration(0.5, "same")))
    executor._step()
    executor._step()
    assert "fast is left out: " in capsys.readouterr().err
    assert executor._usable() == [cluster.workers.present["slow"]]


def test_workers_of_one_machine_have_equal_speed():
    cluster = SimulatedCluster()
    cluster.join("a", host="one")
    cluster.join("b", host="one", answer=AdmissionReply(Calibration(1.9, "same")))
    executor = full_executor(cluster, EQUAL_SPEED)
    assert len(executor._usable()) == 2


def test_busy_client_does_not_count_workers_as_lost(monkeypatch):
    cluster = SimulatedCluster(good=1)
    executor = full_executor(cluster, items=1)
    # Time passes in which the client does not listen.
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 1e6)
    assert executor.next_worker() == "good"
    cluster.finish(cluster.calls_at("good")[0])
    assert take_results(executor, 1) == [0]
