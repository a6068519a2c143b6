"""Errors of users, exit statuses, and one way to end a command."""

import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Callable

OK, CHECK_FAILED, USER_ERROR, UNFINISHED = 0, 1, 2, 3  # exit statuses of every command
OUT_OF_ROOM = "failed to map"  # what the system says of a library
STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}  # by their descriptors, from 0
MAX_LINE = 4000  # characters of a text from outside, so that a line of it has less than 4 kB


def printable(text: str, most: int = MAX_LINE) -> str:
    """Text from outside on one line, control characters escaped, cut if it is long."""
    short = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[: most + 1])
    return short if len(short) <= most else f"{short[: most - 3]}..."


class UserError(Exception):  # not a fault of the code
    """What the user has to change, in one line; `has_place` if the line says where.

    Where `several_lines` is true it has more lines, whose parts from outside are escaped.
    """

    has_place = several_lines = False


class Unfinished(Exception):  # noqa: N818  # not a fault of the code
    """Why the work could not be finished, in one line; the finished part is kept."""


def status_of(name: str, work: Callable[[], int], again: str = "", place: str = "") -> int:
    """The exit status of `work`; whatever stops it is printed in one line by the command `name`.

    `again` is the command that continues the work, if there is one; `place` is where a mistake
    is, if it is not in the command itself.
    """
    repair_streams()
    try:
        return work()
    except UserError as error:
        text = str(error) if error.has_place else f"{place or name}: {error}"
        print_error(*(text.split("\n") if error.several_lines else [text]))
        return USER_ERROR
    except Unfinished as error:
        print_error(f"{name}: {error}")
    except OSError as error:
        if isinstance(error, BrokenPipeError) and is_stdout_closed():
            return UNFINISHED
        place = f"{error.filename}: " if error.filename else ""
        hint = "; what was finished is kept, the same command continues" if again else ""
        print_error(f"{name}: {place}{os_error_text(error)}{hint}")
    except MemoryError:
        print_error(f"{name}: there is not enough memory")
    except ImportError as error:  # of a library that finds no room, or is broken
        if isinstance(error, ModuleNotFoundError) or OUT_OF_ROOM not in str(error):
            raise
        print_error(f"{name}: there is not enough memory ({error})")
    except KeyboardInterrupt:
        hint = f"; what is finished is kept. To continue: {again}" if again else ""
        print_error("", f"stopped{hint}")
    return UNFINISHED


def is_stdout_closed() -> bool:
    """Whether nobody reads our output any more; then it leads nowhere from now on."""
    try:
        look = select.poll()
        look.register(sys.stdout.fileno(), 0)
        gone = any(event & select.POLLERR for _, event in look.poll(0))
    except (OSError, ValueError, AttributeError):
        return False
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return gone


def os_error_text(error: OSError) -> str:
    """What the system says; of a working directory that was deleted it says too little."""
    if error.errno == errno.ENOENT and not error.filename:
        return "the working directory is not there any more"
    return str(error.strerror or error)


def repair_streams() -> None:
    """Open streams that were closed when we began; what they cannot write becomes a `?`.

    Else the next file that is opened would be standard output, and get what bots print.
    """
    for name, mode in STREAMS.items():
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def print_error(*lines: str) -> None:
    """Print lines to stderr, if anybody reads them; nothing in them begins another line."""
    with contextlib.suppress(OSError):
        print("\n".join(map(printable, lines)), file=sys.stderr, flush=True)


def print_lines(*lines: str) -> None:
    """Print lines to stdout; nothing in them begins another line."""
    print("\n".join(map(printable, lines)), flush=True)


def print_safely(show: Callable[[], None]) -> None:
    """Let `show` print to stdout, if anybody reads it."""
    try:
        show()
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich ends the program when a pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
