"""What a forked process of tests does: take a file, run its tests, tell what happened."""

import os
import pickle
import signal
import struct
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import pytest

NUMBER = struct.Struct("i")
FAULT = 1

Message = tuple[str, object]  # the name of what happened, and what


class Queue:
    """Numbers of files; several processes take them, each number is taken once."""

    def __init__(self, length: int) -> None:
        self.reader, writer = os.pipe()
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            for number in range(length):  # fewer than would fill a pipe
                pipe.write(NUMBER.pack(number))

    def take(self) -> int | None:
        """The next number, None at the end."""
        taken = os.read(self.reader, NUMBER.size)
        return NUMBER.unpack(taken)[0] if taken else None


@dataclass
class Shared:
    """What all processes of tests have in common."""

    session: pytest.Session
    files: list[list[int]]  # places of tests
    queue: Queue
    running: memoryview  # the test of each process, counted from 1; at the end: whether to stop
    directory: Path  # with the temporary ones of each process


class Told:
    """Tells the process that began this one what happens, once a test."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self.config, self.pipe = config, pipe
        self.happened: list[Message] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if nothing_to_say(report):
            told = (report.when, report.duration, report.start, report.stop)
            self.happened.append(("passed", told))
            return
        plain = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.happened.append(("report", plain))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location) -> None:
        each = warning_message
        kept = warnings.WarningMessage(each.message, each.category, each.filename, each.lineno)
        told = {"warning_message": kept, "when": when, "nodeid": nodeid, "location": location}
        self.happened.append(("warning", told))

    def send(self, name: str, what: object = None) -> None:
        """This, after all that happened before."""
        self.pipe.send_bytes(pickle.dumps([*self.happened, (name, what)]))
        self.happened.clear()


def nothing_to_say(report: pytest.TestReport) -> bool:
    """Whether a report only says that all is well, as nearly all of them do."""
    more = report.sections or report.user_properties or hasattr(report, "wasxfail")
    return report.passed and not more


def work(shared: Shared, number: int, pipe: Connection, places: list[int]) -> NoReturn:
    """Run the tests at these places, then those of files that nobody took; end this process."""
    config, told = shared.session.config, Told(shared.session.config, pipe)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _settle(config, shared.directory / f"process-{number}")
        config.pluginmanager.register(told)
        _run(shared, number, told, places)
        config._ensure_unconfigure()
        told.send("end")
    except BaseException:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would leave more behind
        with suppress(BaseException):
            told.send("fault", traceback.format_exc())
        with suppress(BaseException):
            shared.session._setupstate.teardown_exact(None)
    finally:
        os._exit(FAULT)  # nothing of what the other process has to end is ended here


def _settle(config: pytest.Config, directory: Path) -> None:
    """A place of its own for what this process prints, and for what it writes."""
    config.pluginmanager.unregister(name="terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    directory.mkdir(exist_ok=True)  # it is there where another process came to a bad end
    config._tmp_path_factory._basetemp = directory


def _run(shared: Shared, number: int, told: Told, places: list[int]) -> None:
    session = shared.session
    following = _places(shared, told, places)
    place = next(following, None)
    while place is not None and not (session.shouldfail or session.shouldstop):
        after = None if shared.running[-1] else next(following, None)
        item = session.items[place]
        shared.running[number] = place + 1
        then = None if after is None else session.items[after]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
        told.send("done", place)
        place = after
    session._setupstate.teardown_exact(None)


def _places(shared: Shared, told: Told, places: list[int]) -> Iterator[int]:
    yield from places
    while (file := shared.queue.take()) is not None:
        told.send("took", shared.files[file])
        yield from shared.files[file]
