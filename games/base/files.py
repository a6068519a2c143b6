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
MOST_DEPTH = 64  # of nested tables and lists
WAIT_SECONDS = 5.0  # for the writer of a pipe
PIECE = 1 << 16
# Words separated by dots, quoted or not. Possessive quantifiers make the match linear.
PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
LONG_KEY = re.compile(rf"(?<![\w-]){PART}(?:[ \t]*+\.[ \t]*+{PART}){{{MOST_PARTS}}}")
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'')
MANY_DIGITS = "Exceeds the limit"  # in Python's message about a number with too many digits
PARTIAL = ".part"
SYSTEM = ("/dev", "/dev/fd")  # with links to pipes and terminals, as below /proc
LINK_REFUSAL = "it is a symbolic link; results are not written through links"
# The shape of a JSON value: a type or None, one of several shapes, a list of one shape, or
# a shape for each key of an object.
Shape: TypeAlias = "type | tuple[Shape, ...] | list[Shape] | Mapping[str, Shape] | None"
# Do not follow links, and do not wait for the reader of a pipe.
NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK


class InputTooLarge(ValueError):  # noqa: N818  # describes the file
    """A file, or a value in it, is larger than any sensible input; the message is one line."""


def read_with_limit(path: Path, most: int = MAX_BYTES, *, pipes: bool = True) -> bytes:
    """Return the content of a file; InputTooLarge if it is larger than `most` bytes.

    Pipes are read for a few seconds at most, and not at all without `pipes`.
    """
    # Nonblocking, because a pipe without a writer would block forever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind) and not (pipes and stat.S_ISFIFO(kind)):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        pieces, size = [], 0
        while piece := _read_chunk(descriptor, stat.S_ISFIFO(kind), path):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise InputTooLarge(f"it is too large: at most {most:,} bytes are read")
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _read_chunk(descriptor: int, is_pipe: bool, path: Path) -> bytes:
    """Read the next bytes; wait for a pipe for a few seconds at most."""
    until = time.monotonic() + WAIT_SECONDS
    while is_pipe:
        ready = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            raise TimeoutError(
                errno.ETIMEDOUT, f"the pipe sent no data for {WAIT_SECONDS:.0f} s", str(path)
            )
        try:
            return os.read(descriptor, PIECE)
        except BlockingIOError:
            continue
    return os.read(descriptor, PIECE)


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise InputTooLarge or tomllib's error with the reason."""
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


def format_toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{toml_key(key)} = {format_toml(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def toml_key(key: str) -> str:
    """Return a key as TOML, with quotes where they are needed."""
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raise a ValueError if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputTooLarge("its lists and objects are nested too deeply") from None


def require_shape(stored: object, shape: Mapping[str, Shape], name: str) -> None:
    """Raise a ValueError that names the first key of a JSON file with a wrong shape."""
    for key, wanted in shape.items():
        if not isinstance(stored, dict) or not has_shape(stored.get(key), wanted):
            raise ValueError(f"{name} is damaged: {key} is missing or has a wrong type")


def has_shape(value: object, shape: Shape) -> bool:
    """Return whether a JSON value has a shape; a missing key counts as null."""
    if isinstance(shape, tuple):
        return any(has_shape(value, choice) for choice in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(item, shape[0]) for item in value)
    if isinstance(shape, Mapping):
        has = (isinstance(value, dict) and has_shape(value.get(key), shape[key]) for key in shape)
        return all(has)
    if shape is float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return abs(value) <= sys.float_info.max
    return value is None if shape is None else type(value) is shape


def nesting_depth(text: str) -> int:
    """Return the maximal nesting depth of brackets outside one-line strings and comments."""
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
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write; it replaces `path` when it is complete and on disk."""
    if _is_stream(path):  # it cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        # Never write through a leftover or a planted link.
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
    """Return whether the path is a pipe or a device, or a link of the system to one."""
    directory = str(path.absolute().parent)
    if directory in SYSTEM or directory.startswith("/proc/"):
        return True
    return path.exists() and not path.is_file() and not path.is_symlink()


def is_special_file(path: Path) -> bool:
    """Return whether the path is a symbolic link or exists and is not a regular file."""
    return path.is_symlink() or (path.exists() and not path.is_file())


def make_subdirectory(path: Path) -> None:
    """Make a directory in one of ours; raise an OSError if it is a symbolic link."""
    path.mkdir(exist_ok=True)
    if path.is_symlink():
        raise OSError(errno.ELOOP, LINK_REFUSAL, str(path))


def open_append(path: Path) -> IO[str]:
    """Open a text file for appending; raise an OSError if it is a link or a pipe."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o666)
    if stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return open(handle, "a", encoding="utf-8")  # noqa: PTH123  # takes a descriptor


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically; escape surrogates, as in undecodable file names."""
    with atomic_write(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def remove_partial_files(directory: Path) -> None:
    """Delete the temporary files that killed writers left in a directory."""
    for path in directory.glob(f".*{PARTIAL}"):
        path.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make new names in a directory survive a power failure."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
