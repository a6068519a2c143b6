"""The log: records of all workers are in it when the run ends."""

import logging

from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.storage.run_log import open_run_log

log = logging.getLogger("workers")


def say(number):
    for line in range(20):
        log.info("number %d, line %d", number, line)
    return number


def test_no_record_of_a_worker_is_lost(tmp_path):
    with open_run_log(tmp_path / "run.log"):
        log.warning("from the parent")
        options = PlayOptions(3, Interrupts())
        results = run_in_order(Job(say), iterate_items(range(50)), options)
        assert list(results) == list(range(50))
    lines = (tmp_path / "run.log").read_text().splitlines()
    told = sorted(line.partition("workers: ")[2] for line in lines)
    expected = [f"number {n}, line {line}" for n in range(50) for line in range(20)]
    assert told == sorted([*expected, "from the parent"])
    assert any("MainProcess WARNING" in line for line in lines)


def test_the_root_logger_is_left_as_it_was(tmp_path):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    with open_run_log(tmp_path / "run.log"):
        assert root.handlers != before
    assert (root.handlers, root.level) == (before, level)


def test_a_log_that_cannot_be_written_is_no_reason_to_stop(capfd):
    with open_run_log("/dev/full"):
        log.warning("nobody will read this")
    assert capfd.readouterr().err == ""
