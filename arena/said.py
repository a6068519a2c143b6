"""Printing for readers who may have heard enough, as `head` does."""

import contextlib
import os
import sys
from collections.abc import Callable


def say(text: str) -> None:
    """Print a line to stderr, if somebody reads it."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def printed(show: Callable[[], None]) -> None:
    """Let `show` print to stdout, if somebody reads it."""
    try:
        show()
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich ends the program when a pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
