"""Files of tests side by side, in processes forked when all is collected: pytest --processes auto.

What tests import is loaded once, and what they are is found once; the processes have it all. A
file's tests stay together, for they share what they make. Files that took longest in the last run
come first, and a process takes the next one as it begins the last test of the one before.
"""

import os
import pickle
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from mmap import mmap
from multiprocessing.connection import Connection, Pipe, wait

import pytest

from tests.process_of_tests import NUMBER, Message, Queue, Shared, work

KEPT = "pitflip/seconds_of_files"  # in pytest's cache
OF_A_TEST = 0.02  # seconds, where nothing is known
MOST = 8  # processes, however many cores there are
LOOK_EVERY = 1.0  # seconds until it is asked whether the processes are still there
TO_END = 20.0  # seconds that processes have to end what their tests began


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "how many processes run tests side by side: a number, or auto"
    parser.addoption("--processes", default="1", help=words)


def pytest_configure(config: pytest.Config) -> None:
    asked = config.getoption("--processes")
    # Three for two cores: some tests wait, for a bot, a port or a process of theirs.
    number = min(MOST, 3 * (os.cpu_count() or 1) // 2) if asked == "auto" else int(asked)
    if number > 1 and not config.getoption("usepdb"):
        config.pluginmanager.register(SideBySide(config, number))


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


@contextmanager
def held_back(number: signal.Signals) -> Iterator[None]:
    """Meanwhile the signal waits."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


def longest_first(items: Sequence[pytest.Item], seconds: dict[str, float]) -> list[list[int]]:
    """The places of each file's tests, and the file that took longest first."""
    places = groupby(range(len(items)), lambda place: file_of(items[place].nodeid))

    def expected(file: list[int]) -> float:
        return seconds.get(file_of(items[file[0]].nodeid), OF_A_TEST * len(file))

    return sorted((list(file) for _, file in places), key=expected, reverse=True)


@dataclass(eq=False)
class Process:
    """A process of tests, as the one that began it sees it."""

    number: int
    pid: int
    pipe: Connection
    left: dict[int, None]  # places that it took and has not done
    fault: str = "it ended without a word"
    ended: bool = False  # as it should: it said so
    status: int | None = None

    def gone(self, options: int = os.WNOHANG) -> bool:
        """Whether it has ended."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, options)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status is not None


@dataclass(eq=False)
class SideBySide:
    """The loop of tests, in place of pytest's own."""

    config: pytest.Config
    number: int
    processes: list[Process] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """All tests; pytest's own loop says why there are none."""
        if session.testsfailed or not session.items or self.config.option.collectonly:
            return None
        files = longest_first(session.items, self._known())
        memory = memoryview(mmap(-1, NUMBER.size * (self.number + 1))).cast("i")
        # The directories of processes are in one that is made here.
        directory = self.config._tmp_path_factory.getbasetemp()
        self.shared = Shared(session, files, Queue(len(files)), memory, directory)
        try:
            for number in range(self.number):
                self._begin(number, [])
            while self.processes:
                self._listen()
        except BaseException:
            self._stop()
            raise
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        if cache := getattr(self.config, "cache", None):
            cache.set(KEPT, self._known() | self.seconds)

    def _known(self) -> dict[str, float]:
        cache = getattr(self.config, "cache", None)  # none with -p no:cacheprovider
        return cache.get(KEPT, {}) if cache else {}

    def _begin(self, number: int, places: list[int]) -> None:
        """A process that runs the tests at these places, and then files that nobody took."""
        reader, writer = Pipe(duplex=False)
        self.shared.running[number] = 0
        with held_back(signal.SIGINT):  # nobody is forgotten, and nobody goes on here as this one
            if pid := os.fork():
                writer.close()
                self.processes.append(Process(number, pid, reader, dict.fromkeys(places)))
                return
            for each in (reader, *(other.pipe for other in self.processes)):
                each.close()
            work(self.shared, number, writer, places)

    def _listen(self) -> None:
        """Pass on what processes tell, and go on for those that came to a bad end."""
        ready = wait([each.pipe for each in self.processes], LOOK_EVERY)
        for process in list(self.processes):
            if process.pipe in ready:
                self._hear(process)
            elif not ready and process.gone() and not process.pipe.poll():
                self._bury(process)  # a process of a test's has the other end of its pipe

    def _hear(self, process: Process) -> None:
        try:
            messages = pickle.loads(process.pipe.recv_bytes())
        except (EOFError, OSError):
            self._bury(process)
            return
        for message in messages:
            self._pass_on(process, message)

    def _pass_on(self, process: Process, message: Message) -> None:
        hook = self.config.hook
        match message:
            case "passed", told:
                self._passed(process, told)
            case "report", plain:
                report = hook.pytest_report_from_serializable(config=self.config, data=plain)
                hook.pytest_runtest_logreport(report=report)
            case "warning", told:
                hook.pytest_warning_recorded.call_historic(kwargs=told)
            case "took", places:
                process.left |= dict.fromkeys(places)
            case "done", place:
                del process.left[place]
            case "fault", text:
                process.fault = text
            case "end", _:
                process.ended = True
        self.shared.running[self.number] = bool(self.shared.session.shouldfail)

    def _passed(self, process: Process, told: tuple[str, float, float, float]) -> None:
        """A report of which nothing but the time was told, of the test that the process is at."""
        item = self.shared.session.items[next(iter(process.left))]
        when, duration, start, stop = told
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "passed", None, when, (), duration, start, stop
        )
        self.config.hook.pytest_runtest_logreport(report=report)

    def _bury(self, process: Process) -> None:
        """What it left undone is a failure of the test that it was at; another does the rest."""
        self.processes.remove(process)
        process.pipe.close()
        process.gone(options=0)
        if process.ended:
            return
        place = self.shared.running[process.number] - 1
        if place < 0:
            raise RuntimeError(f"a process of tests did not begin: {process.fault}")
        item = self.shared.session.items[place]
        text = f"{process.fault} (status {process.status})"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
        self.config.hook.pytest_runtest_logreport(report=report)
        process.left.pop(place, None)
        if not self.shared.session.shouldfail:
            self._begin(process.number, list(process.left))

    def _stop(self) -> None:
        """End all that runs, and let it end what its tests began."""
        for process in self.processes:
            process.pipe.close()
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
        until = time.monotonic() + TO_END
        while time.monotonic() < until and not all(each.gone() for each in self.processes):
            time.sleep(0.05)
        for process in self.processes:
            if not process.gone():
                os.kill(process.pid, signal.SIGKILL)
            process.gone(options=0)
