"""Errors of users, exit statuses, and the wrapper that ends every command in the same way."""

import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Callable

OK, CHECK_FAILED, USER_ERROR, UNFINISHED = 0, 1, 2, 3  # exit statuses of every command
OUT_OF_ROOM = "failed to map"  # in the system's message when a library does not fit into memory
STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}  # by their descriptors, from 0
MAX_LINE = 4000  # characters of external text, so that a line stays below 4 kB


def printable(text: str, most: int = MAX_LINE) -> str:
    """Return external text on one line: control characters escaped, shortened if it is long."""
    signs = (sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[: most + 1])
    line = "".join(signs)
    return line if len(line) <= most else f"{line[: most - 3]}..."


before_output: list[Callable[[], None]] = []  # called before a line is printed


class UserError(Exception):
    """A mistake of the user, described in one line; `has_place` if the line names the place.

    With `several_lines` the message has several lines, and its external parts are escaped.
    """

    has_place = several_lines = False


class Unfinished(Exception):  # noqa: N818  # not an error of the code
    """The reason why work could not be finished, in one line; finished parts are kept."""


def run_command(name: str, work: Callable[[], int], again: str = "", place: str = "") -> int:
    """Run `work` and return the exit status; print errors in one line that begins with `name`.

    `again` is the command that continues the work, if there is one. `place` is the place of a
    mistake that is not in the command itself.
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
        hint = "; finished work is kept, run the same command to continue" if again else ""
        print_error(f"{name}: {place}{os_error_text(error)}{hint}")
    except MemoryError:
        print_error(f"{name}: there is not enough memory")
    except ImportError as error:  # a library could not be mapped, or is broken
        if isinstance(error, ModuleNotFoundError) or OUT_OF_ROOM not in str(error):
            raise
        print_error(f"{name}: there is not enough memory ({error})")
    except KeyboardInterrupt:
        hint = f"; finished work is kept. To continue: {again}" if again else ""
        print_error("", f"stopped{hint}")
    return UNFINISHED


def is_stdout_closed() -> bool:
    """Return whether stdout has no reader; if so, redirect it to the null device."""
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
    """Return the system's message, with a better one for a deleted working directory."""
    if error.errno == errno.ENOENT and not error.filename:
        return "the working directory was deleted: change to an existing one"
    return str(error.strerror or error)


def repair_streams() -> None:
    """Open standard streams that were closed, and replace characters that they cannot encode.

    Otherwise the next file to be opened would become standard output and receive what bots print.
    """
    for name, mode in STREAMS.items():
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def announce_output() -> None:
    """Call the functions in `before_output`, such as one that clears the line of progress."""
    for call in before_output:
        call()


def print_error(*lines: str) -> None:
    """Print lines to stderr, with line breaks in them escaped; ignore a closed stderr."""
    announce_output()
    with contextlib.suppress(OSError):
        print("\n".join(map(printable, lines)), file=sys.stderr, flush=True)


def print_lines(*lines: str) -> None:
    """Print lines to stdout, with line breaks in them escaped."""
    announce_output()
    print("\n".join(map(printable, lines)), flush=True)


def print_safely(show: Callable[[], None]) -> None:
    """Call `show`, which prints to stdout, and ignore a closed stdout."""
    announce_output()
    try:
        show()
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich ends the program when a pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
