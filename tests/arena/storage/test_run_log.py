"""The log: records of all workers are in it when the run ends."""

import logging
import subprocess
import sys

from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.storage.run_log import open_run_log

log = logging.getLogger("workers")


def say(number):
    for line in range(20):
        log.info("number %d, line %d", number, line)
    return number


def test_records_of_all_workers_are_logged(tmp_path):
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


def test_root_logger_is_restored(tmp_path):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    with open_run_log(tmp_path / "run.log"):
        assert root.handlers != before
    assert (root.handlers, root.level) == (before, level)


def test_log_that_cannot_be_written_does_not_stop_the_run(capfd):
    with open_run_log("/dev/full"):
        log.warning("nobody will read this")
    assert capfd.readouterr().err == ""


KILLED_WHILE_LOGGING = """
import logging, os, signal, sys
from pathlib import Path
from arena.storage.run_log import open_run_log

with open_run_log(Path(sys.argv[1])):
    (handler,) = [each for each in logging.getLogger().handlers if hasattr(each, "queue")]
    if os.fork() == 0:
        handler.queue._wlock.acquire()
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    logging.getLogger("run").warning("after the death")
"""


def test_a_run_ends_after_a_worker_was_killed_while_it_logged(tmp_path):
    script = [sys.executable, "-c", KILLED_WHILE_LOGGING, str(tmp_path / "run.log")]
    assert subprocess.run(script, timeout=60, check=False).returncode == 0
