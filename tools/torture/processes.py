"""Start, observe and reap the descendants of this process."""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from agents.sandbox import syscalls
from agents.sandbox.usage import descendants
from pitflip.__main__ import main

SAMPLE_SECONDS = 0.004
MOST_BETWEEN = 0.1  # seconds that one sample counts for at most, however late it is
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BUSY_STATES = ("R", "D")  # running or ready to run; waiting for the disk


class Command(NamedTuple):
    """A pitflip command, started as in a shell (`typed`) or in a fork with loaded modules."""

    verb: str
    words: tuple[str, ...]
    typed: bool = False

    def __str__(self) -> str:
        return " ".join(("pitflip", self.verb, *self.words))


class Processes:
    """The descendants of this process, including orphans of commands that have ended."""

    def __init__(self) -> None:
        syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)  # orphans become our children
        self.statuses: dict[int, int] = {}
        self.seconds: dict[int, float] = {}  # CPU time by process

    def start(
        self,
        command: Command,
        place: Path,
        log: Path,
        environment: Mapping[str, str],
        before: Callable[[], None] = lambda: None,
    ) -> int:
        """Start a command in a new process group and return its process ID."""
        sys.stdout.flush()
        sys.stderr.flush()
        # Signals wait until the child has the handlers of a command.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            child = os.fork()
            if not child:
                for each in ENDING:  # as in a command that is still loading
                    signal.signal(each, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                run_in_fork(command, place, log, environment, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.statuses.pop(child, None)  # an earlier process may have had the same ID
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        return child

    def reap(self) -> None:
        """Store the exit statuses of ended children."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self.statuses[process] = os.waitstatus_to_exitcode(status)

    def pids(self) -> list[int]:
        """Return the IDs of all descendants, parents before children."""
        self.reap()
        return descendants(os.getpid())[1:]

    def cpu_seconds(self) -> float:
        """Return the CPU time of all processes seen since `seconds` was last cleared."""
        for each in self.pids():
            with contextlib.suppress(OSError):
                self.seconds[each] = time.clock_gettime((~each << 3) | 2)  # its CPU clock
        return sum(self.seconds.values())

    def is_busy(self) -> bool:
        """Return whether any thread runs, is ready to run, or waits for the disk."""
        return any(thread_state(task) in BUSY_STATES for task in self.threads())

    def threads(self) -> list[Path]:
        """Return the threads of all descendants."""
        return [task for each in self.pids() for task in threads_of(each)]

    def kill(self) -> None:
        """Kill all descendants."""
        while left := descendants(os.getpid())[1:]:
            for each in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self.reap()
            time.sleep(SAMPLE_SECONDS)


def threads_of(process: int) -> list[Path]:
    """Return the directories of the threads of a process in /proc."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{process}/task").iterdir())
    return []


def thread_state(task: Path) -> str:
    """Return the state of a thread as a letter, as in proc(5); empty if it has ended."""
    with contextlib.suppress(OSError):
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    return ""


def run_in_fork(
    command: Command,
    place: Path,
    log: Path,
    environment: Mapping[str, str],
    before: Callable[[], None],
) -> NoReturn:
    """Run the command in a forked child, with its output in the log."""
    status: object = 70
    try:
        # Not a new session: Linux would give it as much CPU time as everything else together.
        os.setpgid(0, 0)
        os.chdir(place)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        os.environ.update(environment)
        before()
        if command.typed:
            words = [sys.executable, "-m", "pitflip", command.verb, *command.words]
            os.execv(sys.executable, words)
        sys.stdout, sys.stderr = (
            open(stream, "w", buffering=1, closefd=False)  # noqa: SIM115  # open until the process ends
            for stream in (1, 2)
        )
        sys.argv = ["pitflip", command.verb, *command.words]
        status = main([command.verb, *command.words])
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 70)
