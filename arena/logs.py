"""One log file a run, with the records of all its workers in it."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from multiprocessing_logging import install_mp_handler, uninstall_mp_handler

FORMAT = "%(asctime)s %(processName)s %(levelname)s %(name)s: %(message)s"


@contextlib.contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Log to `path`; forked workers inherit the wrapped handler and need no initializer."""
    root, handler = logging.getLogger(), logging.FileHandler(path)
    handler.setFormatter(logging.Formatter(FORMAT))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    install_mp_handler()
    try:
        yield
    finally:
        uninstall_mp_handler()
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


def reinstall() -> None:
    """A fresh queue: a worker killed while writing may have left the old one's lock held."""
    uninstall_mp_handler()
    install_mp_handler()
