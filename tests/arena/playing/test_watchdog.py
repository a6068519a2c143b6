"""The watch: who has been waited for too long is ended, and only he."""

import multiprocessing
import os
import signal
import time

import pytest

from arena.planning.tasks import CutOff
from arena.playing.watchdog import COLUMNS, ROWS, WHOLE, Waiting, Watchdog, new_watch, note


@pytest.fixture
def sleeper():
    """A process that would sleep for a minute."""
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    yield process
    process.kill()
    process.join()


def ago(seconds):
    return time.monotonic_ns() - int(seconds * 1e9)


def watching(*waiting, move_seconds=1.0):
    watch = Watchdog(new_watch(), move_seconds)
    for row, each in enumerate(waiting):
        watch.rows[row * COLUMNS : (row + 1) * COLUMNS] = each
    return watch


def test_who_thinks_too_long_is_ended_and_judged(sleeper):
    watch = watching(Waiting(sleeper.pid, 7, 1, 12, 0, ago(1.1)))
    watch.look()
    sleeper.join(5)
    assert sleeper.exitcode == -signal.SIGKILL
    assert watch.verdicts == {(7, 1): CutOff(12, 0)}
    assert watch.rows[COLUMNS - 1] == 0


def test_who_still_has_time_or_is_not_asked_is_left_alone(sleeper):
    watch = watching(
        Waiting(sleeper.pid, 7, 1, 12, 0, ago(0.5)), Waiting(sleeper.pid, 7, 1, 12, 0, 0)
    )
    watch.look()
    assert sleeper.is_alive()
    assert watch.verdicts == {}


def test_a_compiled_call_that_hangs_is_to_be_played_move_by_move(sleeper):
    watch = watching(Waiting(sleeper.pid, 5, WHOLE, 3, 0, ago(2)))
    watch.look()
    assert set(watch.verdicts) == {(5, WHOLE), (6, WHOLE), (7, WHOLE)}
    assert set(watch.within(6, 7)) == {(6, WHOLE)}


def test_a_death_is_excused_once_for_every_new_verdict():
    watch = watching()
    assert not watch.excuses(3)
    watch.verdicts[3, 0] = CutOff(9, 1)
    assert watch.excuses(3)
    assert not watch.excuses(3)
    watch.verdicts[3, 0] = CutOff(11, 1)
    assert watch.excuses(3)
    watch.verdicts[3, 1] = CutOff(0, 0)
    assert watch.excuses(3)
    assert not watch.excuses(4)


def test_after_a_death_nobody_is_waited_for():
    watch = watching(Waiting(1, 1, 1, 1, 1, 1), Waiting(1, 1, 1, 1, 1, 1))
    watch.mend()
    assert not any(watch.rows)


def _note(rows, done):
    note(rows, (os.getpid(), 1, 0, 0, 0, 1))
    done.wait(30)


def test_workers_of_one_parent_have_rows_of_their_own():
    rows, context = new_watch(), multiprocessing.get_context("fork")
    done = context.Event()
    processes = [context.Process(target=_note, args=(rows, done)) for _ in range(5)]
    for process in processes:
        process.start()
    until = time.monotonic() + 30
    pids = {process.pid for process in processes}
    while {row for row in rows[0 : ROWS * COLUMNS : COLUMNS] if row} != pids:
        assert time.monotonic() < until
        time.sleep(0.01)
    done.set()
    for process in processes:
        process.join()
