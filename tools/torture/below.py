"""The processes below this one: begun, watched, buried."""

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
MOST_BETWEEN = 0.1  # seconds: what a sample stands for at most, however late it comes
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RUNS, WAITS_FOR_THE_DISK = "R", "D"


class Command(NamedTuple):
    """A command of ours: typed, as in a shell, or forked from here, where all is loaded."""

    verb: str
    words: tuple[str, ...]
    typed: bool = False

    def __str__(self) -> str:
        return " ".join(("pitflip", self.verb, *self.words))


class Below:
    """All that this process has begun, and what was left to it by those who ended."""

    def __init__(self) -> None:
        syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)  # orphans come to us
        self.statuses: dict[int, int] = {}
        self.seconds: dict[int, float] = {}  # of the processor, by process

    def begin(
        self,
        command: Command,
        place: Path,
        log: Path,
        environment: Mapping[str, str],
        before: Callable[[], None] = lambda: None,
    ) -> int:
        """Begin a command in a group of its own; its number."""
        sys.stdout.flush()
        sys.stderr.flush()
        # A signal that comes at once is for the command, not for the fork that is to be it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            child = os.fork()
            if not child:
                for each in ENDING:  # SIGINT: as `arena` has it while it loads
                    signal.signal(each, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                become(command, place, log, environment, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.statuses.pop(child, None)  # of one long ago that had the same number
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        return child

    def bury(self) -> None:
        """Note how those ended that have."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self.statuses[process] = os.waitstatus_to_exitcode(status)

    def there(self) -> list[int]:
        """Who is there now, parents before children."""
        self.bury()
        return descendants(os.getpid())[1:]

    def used(self) -> float:
        """The processor time of all that were seen since it was last forgotten."""
        for each in self.there():
            with contextlib.suppress(OSError):
                self.seconds[each] = time.clock_gettime((~each << 3) | 2)  # of a whole process
        return sum(self.seconds.values())

    def busy(self) -> bool:
        """Whether anybody runs, would run if the machine had time, or waits for the disk."""
        return any(state in (RUNS, WAITS_FOR_THE_DISK) for state in map(state_of, self.tasks()))

    def tasks(self) -> list[Path]:
        """The threads of all who are there."""
        return [task for each in self.there() for task in threads_of(each)]

    def end(self) -> None:
        """End all that is left."""
        while left := descendants(os.getpid())[1:]:
            for each in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self.bury()
            time.sleep(SAMPLE_SECONDS)


def threads_of(process: int) -> list[Path]:
    """What the system says of the threads of a process."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{process}/task").iterdir())
    return []


def state_of(task: Path) -> str:
    """The letter that stands for what a thread does now."""
    with contextlib.suppress(OSError):
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    return ""


def become(
    command: Command,
    place: Path,
    log: Path,
    environment: Mapping[str, str],
    before: Callable[[], None],
) -> NoReturn:
    """In a fork: be the command, with its words in the log."""
    status: object = 70
    try:
        # Not a session: Linux would give it as much of the processor as all else that runs here.
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
            open(stream, "w", buffering=1, closefd=False)  # noqa: SIM115  # till we end
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
