"""The log: records of all workers are in it when the run ends, also after a worker's death."""

import logging
import os
import signal
import time

from arena.playing.executor import iterate_items, run_in_order
from arena.storage.run_log import RunLog, renew_logs
from tests.arena.playing.crew import AnyCrew

log = logging.getLogger("workers")


def say(number):
    for line in range(20):
        log.info("number %d, line %d", number, line)
    return number


def say_and_die(number):
    log.info("number %d", number)
    time.sleep(0.1)  # until the record is sent
    os.kill(os.getpid(), signal.SIGKILL)


def test_no_record_of_a_worker_is_lost(tmp_path):
    with RunLog(tmp_path / "run.log"):
        log.warning("from the parent")
        assert list(
            run_in_order(AnyCrew(say, 3, mend=renew_logs), iterate_items(range(50)))
        ) == list(range(50))
    lines = (tmp_path / "run.log").read_text().splitlines()
    told = sorted(line.partition("workers: ")[2] for line in lines)
    expected = [f"number {n}, line {line}" for n in range(50) for line in range(20)]
    assert told == sorted([*expected, "from the parent"])
    assert any("MainProcess WARNING" in line for line in lines)


def test_after_a_death_the_log_goes_on_and_closes_soon(tmp_path):
    with RunLog(tmp_path / "run.log"):
        for _ in range(3):
            renew_logs()
        assert list(
            run_in_order(AnyCrew(say, 2, mend=renew_logs), iterate_items(range(5)))
        ) == list(range(5))
        begun = time.monotonic()
    assert time.monotonic() - begun < 4.0
    assert len((tmp_path / "run.log").read_text().splitlines()) == 100


def test_the_root_logger_is_left_as_it_was(tmp_path):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    with RunLog(tmp_path / "run.log"):
        assert root.handlers != before
    assert (root.handlers, root.level) == (before, level)


def test_a_log_that_cannot_be_written_is_no_reason_to_stop(capfd):
    with RunLog("/dev/full"):
        log.warning("nobody will read this")
    assert capfd.readouterr().err == ""
