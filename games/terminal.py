"""How a command prints and ends: quietly when its user or its reader has had enough."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

DONE, FINDING, MISTAKE, UNFINISHED = 0, 1, 2, 3  # exit statuses of every command


class Mistake(Exception):  # noqa: N818  # not a fault of the code
    """What the user has to change, in one line; `has_place` if it says itself where that is."""

    has_place = False


class Unfinished(Exception):  # noqa: N818  # not a fault of the code
    """Why the work could not be finished, in one line; what was finished is kept."""


def status_of(name: str, work: Callable[[], int], again: str = "", place: str = "") -> int:
    """The exit status that `work` returns; what stops it is one line from the command `name`.

    `again` is the command that goes on where this one was stopped, if there is one; `place` is
    where a mistake is, if it is not in the command itself.
    """
    try:
        return work()
    except Mistake as error:
        say(str(error) if error.has_place else f"{place or name}: {error}")
        return MISTAKE
    except Unfinished as error:
        say(f"{name}: {error}")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        kept = "; what was finished is kept, the same command goes on" if again else ""
        say(f"{name}: {place}{error.strerror or error}{kept}")
    except KeyboardInterrupt:
        kept = f"; what is finished is kept. To go on: {again}" if again else ""
        say(f"\nstopped{kept}")
    return UNFINISHED


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
