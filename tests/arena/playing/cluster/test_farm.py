"""The backend of a cluster against workers that do what a test says: windows, losses, copies."""

import pickle
import time
from collections import deque
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from arena.playing.cluster import admission, connection, dask_executor
from arena.playing.cluster.connection import ClusterLost, ClusterUnavailable, WorkerRegistry
from arena.playing.cluster.dask_executor import MAX_AHEAD, QUEUE_PER_SLOT, DaskExecutor
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import Calibration, ItemReply
from arena.playing.cluster.remote_worker import AdmissionReply, prepare_worker, run_item
from arena.playing.executor import WorkFailed
from arena.storage import provenance

SENT = WorkPackage("nobody:asks", b"", {}, False, {})
LIKE_US = AdmissionReply(Calibration(1.0, "same"))


class Hall:
    """A cluster as `Farm` sees it, whose workers answer when they are told to."""

    address = "tcp://hall"

    def __init__(self, **slots: int) -> None:
        self.members, self.calls, self.events = WorkerRegistry(), [], deque()
        self.welcomes = {}
        self.there, self.odd = {}, {}
        for name, each in slots.items():
            self.join(name, each)

    def join(self, name, slots=1, host=None, answer=LIKE_US):
        self.there[name] = {
            "name": name, "host": host or name, "nthreads": slots, "status": "running",
            "last_seen": time.monotonic(),
        }  # fmt: skip
        self.welcomes[name] = answer
        self.members.update(self.there)

    def leave(self, name):
        del self.there[name]
        self.members.update(self.there)

    def call(self, worker, then, function, *words):
        if function is prepare_worker:
            self.events.append(lambda: then(done(self.welcomes[worker])))
            return None
        assert function is run_item
        item = pickle.loads(words[1])
        call = SimpleNamespace(worker=worker, item=item, then=then, dropped=False)
        call.drop = lambda: setattr(call, "dropped", True)
        self.calls.append(call)
        return call

    def versions(self, _worker, packages, then):
        here = provenance.versions()
        said = {
            "packages": {name: here[name] for name in packages} | self.odd,
            "host": {"python": self.odd.get("python", f"{here['python']}.final.0")},
        }
        self.events.append(lambda: then(done({"it": said}, plain=True)))

    def process_events(self, seconds):
        self.members.attention.seconds += seconds
        happened = bool(self.events)
        while self.events:
            self.events.popleft()()
        return happened

    def cancelled(self, future):
        return future.cancelled()

    def open_at(self, worker):
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


def filled(hall, sent=SENT, alone=False, items=10**6):
    """A farm with as many items as it wants."""
    made = DaskExecutor(hall, sent, alone, lambda: None)
    fill(made, iter(range(items)))
    return made


def fill(made, items):
    while made.wanted() is not None and (item := next(items, None)) is not None:
        made.submit(item)


def finished(made, count):
    """So many results."""
    results = []
    while len(results) < count:
        if (result := made.next_result(lambda: None)) is not None:
            results.append(result)
    return results


def test_every_worker_has_a_window_for_each_of_its_slots():
    hall = Hall(one=1, four=4)
    filled(hall)
    assert len(hall.open_at("one")) == QUEUE_PER_SLOT
    assert len(hall.open_at("four")) == 4 * QUEUE_PER_SLOT


def test_results_come_in_order_and_no_more_wait_for_the_first_than_is_said():
    hall, items = Hall(slow=1, fast=1), iter(range(10**6))
    made = DaskExecutor(hall, SENT, False, lambda: None)
    fill(made, items)
    while calls := hall.open_at("fast"):
        hall.finish(calls[0])
        made._turn()
        fill(made, items)
    assert len(made.order) == 2 * MAX_AHEAD  # so the client's memory is flat
    for call in hall.open_at("slow"):
        hall.finish(call)
    assert finished(made, 2 * MAX_AHEAD) == [number**2 for number in range(2 * MAX_AHEAD)]


def test_what_a_lost_worker_had_is_given_to_the_others_and_counts_once():
    hall = Hall(mortal=1, other=1)
    made = filled(hall, items=3)
    assert len(hall.open_at("other")) < 3
    hall.leave("mortal")
    made._turn()
    assert {call.item for call in hall.open_at("other")} == {0, 1, 2}
    for call in hall.open_at("other"):
        hall.finish(call)
    assert finished(made, 3) == [0, 1, 4]


@pytest.mark.parametrize(("alone", "deaths"), [(False, dask_executor.DEATHS), (True, 1)])
def test_an_item_that_loses_its_workers_is_suspected(alone, deaths):
    hall = Hall(a=1, b=1, c=1)
    made = filled(hall, alone=alone, items=1)
    for _ in range(deaths):
        (call,) = [call for call in hall.calls if not call.dropped]
        hall.leave(call.worker)
        made._turn()
    with pytest.raises(WorkFailed) as failure:
        finished(made, 1)
    assert (failure.value.trace, failure.value.worker) == ("", call.worker)


def test_only_what_was_worked_on_is_suspected_of_a_death():
    hall = Hall(a=1)
    made = filled(hall, items=3)
    hall.leave("a")
    made._turn()
    assert [opened.deaths for opened in made.order] == [1, 0, 0]


def test_a_failure_is_said_when_it_is_the_oldest():
    hall = Hall(a=1)
    made = filled(hall, items=2)
    first, second = hall.open_at("a")
    hall.finish(second, ItemReply(None, "ValueError: no"))
    hall.finish(first)
    assert finished(made, 1) == [0]
    with pytest.raises(WorkFailed, match="no") as failure:
        finished(made, 1)
    assert failure.value.text == "at worker a: ValueError: no"


def test_a_void_that_a_worker_played_again_is_in_the_log_with_its_name(caplog):
    hall = Hall(a=1)
    made = filled(hall, items=1)
    hall.finish(hall.open_at("a")[0], ItemReply(0, void="ValueError: once"))
    assert finished(made, 1) == [0]
    assert "games were void at worker a: ValueError: once" in caplog.text


def test_what_is_late_is_played_again_where_nothing_is_to_do(monkeypatch):
    monkeypatch.setattr(dask_executor, "LATE_SECONDS", 0.0)
    hall = Hall(stalled=1, good=1)
    made = filled(hall, items=2)
    (late,), (quick,) = hall.open_at("stalled"), hall.open_at("good")
    hall.finish(quick)
    made._turn()
    made.taken.clear()
    made.taken.append(1e-9)
    made._turn()
    (copy,) = hall.open_at("good")
    assert copy.item == late.item
    hall.finish(copy)
    assert finished(made, 2) == [0, 1]
    assert late.dropped


def test_a_silent_worker_is_overtaken_and_given_nothing(monkeypatch):
    hall = Hall(silent=1, good=1)
    made = filled(hall, items=2)
    hall.finish(hall.open_at("good")[0])
    made._turn()
    monkeypatch.setattr(connection, "WORKER_SILENT_SECONDS", -1.0)
    hall.members.there["good"].heard = 99.0
    made._turn()
    assert [call.item for call in hall.open_at("good")] == [hall.open_at("silent")[0].item]
    assert made.wanted() == "good"


def test_a_worker_that_forgot_the_parcel_is_welcomed_again():
    hall = Hall(a=1)
    made = filled(hall, items=1)
    hall.finish(hall.open_at("a")[0], b"")
    for _ in range(3):
        made._turn()
    hall.finish(hall.open_at("a")[0])
    assert finished(made, 1) == [0]


def test_a_worker_at_which_everything_fails_is_left_out(capsys):
    hall = Hall(bad=1, good=1)
    made = filled(hall, items=12)
    for _ in range(connection.MOST_STRIKES):
        hall.finish(hall.open_at("bad")[0], OSError("No space left on device"))
        made._turn()
    assert "bad is left out: OSError('No space left on device')" in capsys.readouterr().err
    assert {call.worker for call in hall.calls if not call.dropped} <= {"bad", "good"}
    assert made._ready() == [hall.members.there["good"]]


# --------------------------------------------------------------------------- who may play


def test_a_worker_that_is_not_like_us_is_left_out_and_named(capsys):
    hall = Hall(good=1)
    hall.join("other", answer=AdmissionReply(None, "it has numba 0.1, here it is 0.2"))
    filled(hall)
    assert capsys.readouterr().err == "other is left out: it has numba 0.1, here it is 0.2\n"
    assert not hall.open_at("other")


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"python": "3.10.1.final.0"}, "it has python 3.10.1, here it is "),
        ({"numba": "0.1"}, "it has numba 0.1, here it is "),
        ({"pitflip": None}, "it has no pitflip, here it is "),
    ],
)
def test_nothing_is_sent_to_a_worker_of_other_versions(odd, reason):
    hall = Hall(a=1)
    hall.odd = odd
    with pytest.raises(ClusterUnavailable, match=f"no worker at tcp://hall can play: {reason}"):
        filled(hall)
    assert not hall.calls


def test_when_nobody_can_play_the_reason_is_one_line():
    hall = Hall()
    hall.join("other", answer=AdmissionReply(None, "it has numba 0.1, here it is 0.2"))
    with pytest.raises(
        ClusterUnavailable, match=r"no worker at tcp://hall can play: it has numba 0\.1"
    ):
        filled(hall)


def test_workers_are_waited_for_and_not_for_ever(monkeypatch):
    monkeypatch.setattr(admission, "WAIT_SECONDS", 0.05)
    with pytest.raises(ClusterLost, match=r"has had no workers for 0\.05 s"):
        filled(Hall())


def test_a_worker_that_plays_other_games_is_named_and_left_out(capsys):
    hall = Hall(a=1, b=1)
    hall.join("odd", answer=AdmissionReply(Calibration(1.0, "other")))
    filled(hall)
    assert "odd is left out: it plays other games" in capsys.readouterr().err
    assert not hall.open_at("odd")


CLOCKED = SENT._replace(alike=True)


def test_by_the_clock_machines_of_different_speed_are_refused():
    hall = Hall(slow=1)
    hall.join("fast", answer=AdmissionReply(Calibration(0.5, "same")))
    with pytest.raises(
        ClusterUnavailable, match="fast is 2 times as fast as slow, and agents play by"
    ):
        filled(hall, CLOCKED)
    filled(hall)  # without clocks they may
    assert hall.members.factors() == {"slow": 0.5, "fast": 1.0}


def test_by_the_clock_a_faster_machine_that_comes_later_is_left_out(capsys):
    hall = Hall(slow=1)
    made = filled(hall, CLOCKED)
    hall.join("fast", answer=AdmissionReply(Calibration(0.5, "same")))
    made._turn()
    made._turn()
    assert "fast is left out: " in capsys.readouterr().err
    assert made._ready() == [hall.members.there["slow"]]


def test_workers_of_one_machine_are_alike_however_disturbed_one_is():
    hall = Hall()
    hall.join("a", host="one")
    hall.join("b", host="one", answer=AdmissionReply(Calibration(1.9, "same")))
    made = filled(hall, CLOCKED)
    assert len(made._ready()) == 2


def test_whoever_was_busy_elsewhere_takes_nobody_for_gone(monkeypatch):
    hall = Hall(good=1)
    made = filled(hall, items=1)
    # Minutes go by on the clock on the wall, in which nobody listened.
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 1e6)
    assert made.wanted() == "good"
    hall.finish(hall.open_at("good")[0])
    assert finished(made, 1) == [0]
