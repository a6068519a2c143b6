"""The laws for every input: a quick answer, a few printable lines, no other effects."""

import contextlib
import io
import os
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from games.base.errors import CHECK_FAILED, OK, UNFINISHED, USER_ERROR
from games.kernels.compile_cache import user_caches

SECONDS = 2.0
MEBIBYTES = 300
MOST_LINES = 40
MOST_CHARACTERS = 4096
SLOWER = 3.0  # seconds; slow inputs are tried twice because the machine may be loaded


@dataclass(frozen=True)
class Target:
    """A part of pitflip that reads input, with a strategy for inputs."""

    inputs: SearchStrategy[bytes]
    answer: Callable[[bytes, Path], int]  # returns the exit status; its output is checked


class Watch:
    """Records files that Python opens for writing outside a directory."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] | None = None
        self.written: list[str] = []
        sys.addaudithook(self.see)

    def see(self, event: str, arguments: tuple[object, ...]) -> None:
        """Record an opened file."""
        if self.allowed is None or event != "open":
            return
        path, _, flags = (*arguments, None, None, 0)[:3]
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if not writes or not isinstance(path, str) or "__pycache__" in path:  # bytecode
            return
        if not os.path.realpath(path).startswith(self.allowed):
            self.written.append(path)

    @contextlib.contextmanager
    def only(self, directory: Path) -> Iterator[list[str]]:
        """Yield the list of files written outside this directory and our caches."""
        self.written = []
        caches = map(str, user_caches())
        numba = os.environ.get("NUMBA_CACHE_DIR", "/dev/")
        self.allowed = (f"{directory.resolve()}/", *caches, numba, "/dev/", "/proc/")
        try:
            yield self.written
        finally:
            self.allowed = None


WATCH = Watch()


def violation(target: Target, content: bytes) -> str:
    """Return which law the target breaks with an input; empty if none."""
    return violation_of(lambda: _try_target(target, content))


def violation_of(attempt: Callable[[], tuple[str, float]]) -> str:
    """Return which law an attempt breaks; repeat a slow attempt once."""
    why, seconds = attempt()
    if not why and seconds > SECONDS:
        why, seconds = attempt()
        if not why and seconds > SLOWER:
            return f"took {seconds:.1f} s"
    return why


def _try_target(target: Target, content: bytes) -> tuple[str, float]:
    output, fault, status, written = io.StringIO(), "", -1, list[str]()
    before, begun = _peak(), time.process_time()
    with tempfile.TemporaryDirectory(prefix="pitflip-fuzz-") as name:
        directory = Path(name)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                with WATCH.only(directory) as written:
                    status = target.answer(content, directory)
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            except Exception:
                fault = traceback.format_exc(limit=-4)
    seconds = time.process_time() - begun
    if fault:
        return f"a traceback: {fault}", seconds
    if written:
        return f"wrote outside of its directory: {written[:3]}", seconds
    if (grown := _peak() - before) > MEBIBYTES:
        return f"took {grown} MiB", seconds
    return output_violation(output.getvalue(), status), seconds


def output_violation(text: str, status: int) -> str:
    """Return which law an answer breaks by its output or its status; empty if none."""
    if status not in (OK, CHECK_FAILED, USER_ERROR, UNFINISHED):
        return f"ended with status {status}"
    raw = sorted({each for each in text if not each.isprintable() and each != "\n"})
    if raw:
        return f"printed {raw!r}"
    if status in (OK, CHECK_FAILED):
        return ""
    if not text.strip():
        return "an error without a message"
    if text.count("\n") > MOST_LINES:
        return f"printed {text.count(chr(10))} lines"
    return f"printed {len(text):,} characters" if len(text) > MOST_CHARACTERS else ""


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
