"""One log file a run, with the records of all its workers in it."""

import contextlib
import logging
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from multiprocessing_logging import (  # type: ignore[import-untyped]  # it ships no types
    MultiProcessingHandler,
)

PATIENCE_SECONDS = 1.0
FORMAT = "%(asctime)s %(processName)s %(levelname)s %(name)s: %(message)s"


class LogFile(logging.FileHandler):
    """A log on a full disk is short, and no reason to stop."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        """Say nothing: whatever matters is told by whoever cannot write results."""


@contextlib.contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Log to `path`; forked workers inherit the wrapped handler and need no initializer."""
    # On Python 3.14 another way is the default, and asking which one would settle it.
    if multiprocessing.get_start_method(allow_none=True) is None:
        multiprocessing.set_start_method("fork")
    root, file = logging.getLogger(), LogFile(path)
    file.setFormatter(logging.Formatter(FORMAT))
    level = root.level
    root.setLevel(logging.INFO)
    _wrapped[:] = [MultiProcessingHandler("run log", file)]
    root.addHandler(_wrapped[0])
    try:
        yield
    finally:
        root.removeHandler(_wrapped[-1])
        root.setLevel(level)
        while _wrapped:
            _drain(_wrapped.pop(), PATIENCE_SECONDS)
        with contextlib.suppress(OSError):
            file.close()


def reinstall() -> None:
    """A fresh queue: a worker killed while writing may have left the old one's lock held."""
    root = logging.getLogger()
    if _wrapped:
        root.removeHandler(_wrapped[-1])
        _drain(_wrapped[-1], 0.0)
        _wrapped.append(MultiProcessingHandler("run log", _wrapped[-1].sub_handler))
        root.addHandler(_wrapped[-1])


def _drain(handler: Any, seconds: float) -> None:
    """Wait for what is under way, not the 5 s of `close`: a dead worker's record never comes."""
    handler._is_closed = True
    handler._receive_thread.join(seconds)


_wrapped: list[Any] = []  # the latest last; those before have lost a worker
