"""How a command prints and ends: quietly when its user or its reader has had enough."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with what `main` returns; Ctrl-C or a closed pipe ends it silently, in a kernel too."""
    # Python's own handlers wait until compiled code returns, and then print a traceback.
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):  # Windows has no SIGPIPE
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.exit(main())


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
