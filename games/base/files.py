"""Read files within limits and write them atomically."""

import contextlib
import errno
import json
import os
import re
import select
import stat
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

MAX_BYTES = 1 << 20  # of a file that a person writes
MOST_LINES = 10_000
MOST_PARTS = 32  # of a dotted key
MOST_DEPTH = 64  # of tables and lists in one another
WAIT_SECONDS = 5.0  # for somebody who writes into a pipe
PIECE = 1 << 16
# Words with dots between them, however they are quoted. Linear: it begins where a word begins, and
# what it has passed it does not give back.
PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?<![\w-]){PART}(?:[ \t]*+\.[ \t]*+{PART}){{{MOST_PARTS}}}")
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'')
MANY_DIGITS = "Exceeds the limit"  # what Python says of a number that is too long
PARTIAL = ".part"
SYSTEM = ("/dev", "/dev/fd")  # where links to pipes and terminals are, as below /proc
LINK_REFUSAL = "it is a symbolic link; results are not written through one"
# What JSON may hold: a type or None, one of several shapes, a list of one shape, a table by keys.
Shape: TypeAlias = "type | tuple[Shape, ...] | list[Shape] | Mapping[str, Shape] | None"
# Neither followed nor, if it is a pipe, waited for.
NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK


class InputTooLarge(ValueError):  # noqa: N818  # what the file is
    """A file, or what stands in it, is larger than anything that makes sense; one line."""


def read_limited(path: Path, most: int = MAX_BYTES, *, pipes: bool = True) -> bytes:
    """The whole file; TooMuch if it is larger, an OSError if it cannot be read in some seconds.

    Without `pipes` only a file is read: what we have written is one.
    """
    # Without waiting: a pipe that nobody writes into would hold us for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind) and not (pipes and stat.S_ISFIFO(kind)):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        pieces, size = [], 0
        while piece := _piece(descriptor, stat.S_ISFIFO(kind), path):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise InputTooLarge(f"it is too large: at most {most:,} bytes are read")
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _piece(descriptor: int, is_pipe: bool, path: Path) -> bytes:
    """The next bytes; of a pipe those that come within some seconds."""
    until = time.monotonic() + WAIT_SECONDS
    while is_pipe:
        ready = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            raise TimeoutError(errno.ETIMEDOUT, "nothing came through this pipe", str(path))
        try:
            return os.read(descriptor, PIECE)
        except BlockingIOError:
            continue
    return os.read(descriptor, PIECE)


def parsed_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; TooMuch, or tomllib's own error, says what is wrong with it."""
    lines = text.count("\n") + 1
    if lines > MOST_LINES:
        raise InputTooLarge(f"it has {lines:,} lines, at most {MOST_LINES:,} are read")
    if found := LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise InputTooLarge(f"line {line}: a dotted key has at most {MOST_PARTS} parts")
    if nesting_depth(text) > MOST_DEPTH:
        raise InputTooLarge(f"its lists and tables are nested more than {MOST_DEPTH} deep")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        raise InputTooLarge(_reason(error)) from None


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError if it is none, or too deep for anything."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputTooLarge("its lists and objects are nested too deep") from None


def require_shape(stored: object, shape: Mapping[str, Shape], name: str) -> None:
    """Raise a ValueError with the first key of a JSON file that does not have its shape."""
    for key, each in shape.items():
        if not isinstance(stored, dict) or not has_shape(stored.get(key), each):
            raise ValueError(f"{name} is damaged: {key} is missing or has a wrong type")


def has_shape(value: object, shape: Shape) -> bool:
    """Return whether a JSON value has a shape; a key that is missing counts as null."""
    if isinstance(shape, tuple):
        return any(has_shape(value, each) for each in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(each, shape[0]) for each in value)
    if isinstance(shape, Mapping):
        has = (isinstance(value, dict) and has_shape(value.get(key), shape[key]) for key in shape)
        return all(has)
    if shape is float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return abs(value) <= sys.float_info.max
    return value is None if shape is None else type(value) is shape


def nesting_depth(text: str) -> int:
    """How deep brackets stand in one another, outside of short strings and comments."""
    deepest = depth = 0
    for line in text.split("\n"):
        if "[" not in line and "{" not in line and not depth:
            continue
        for sign in re.findall(r"[\[{\]}]", STRINGS.sub("", line).partition("#")[0]):
            depth = depth + 1 if sign in "[{" else max(0, depth - 1)
            deepest = max(deepest, depth)
    return deepest


def _reason(error: Exception) -> str:
    if MANY_DIGITS in str(error):
        return "a number in it has too many digits"
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it replaces the one of this name once it is whole and on the disk."""
    if _is_stream(path):  # a pipe or a device cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        # One left behind, or a link planted here, is not written into.
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def _is_stream(path: Path) -> bool:
    """Whether it is a pipe or a device: of links, and of files that they lead to, the system's."""
    directory = str(path.absolute().parent)
    if directory in SYSTEM or directory.startswith("/proc/"):
        return True
    return path.exists() and not path.is_file() and not path.is_symlink()


def is_special_file(path: Path) -> bool:
    """Whether what we would write into is a symbolic link, or anything but a file."""
    return path.is_symlink() or (path.exists() and not path.is_file())


def make_subdirectory(path: Path) -> None:
    """Make a directory inside one of ours; an OSError if a link leads out of it."""
    path.mkdir(exist_ok=True)
    if path.is_symlink():
        raise OSError(errno.ELOOP, LINK_REFUSAL, str(path))


def open_append(path: Path) -> IO[str]:
    """A file of text to append to; an OSError if it is a link or a pipe."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o666)
    if stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return open(handle, "a", encoding="utf-8")  # noqa: PTH123  # whoever asks closes it


def write_text(path: Path, text: str) -> None:
    """Write a whole file of text; what no text can hold, as in odd names of files, is escaped."""
    with atomic_write(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def remove_partial_files(directory: Path) -> None:
    """Delete the unfinished files that killed writers left in a directory."""
    for path in directory.glob(f".*{PARTIAL}"):
        path.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make the new names in a directory survive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
