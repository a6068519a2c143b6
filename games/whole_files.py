"""Files that are whole or not there: nothing else of ours opens a file for writing."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

UNFINISHED = ".part"
SYSTEM = ("/dev", "/dev/fd")  # where links to pipes and terminals are, as below /proc
THROUGH_LINK = "it is a symbolic link; results are not written through one"
# Neither followed nor, if it is a pipe, waited for.
NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it replaces the one of this name once it is whole and on the disk."""
    if _is_stream(path):  # a pipe or a device cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
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
    sync(path.parent)


def _is_stream(path: Path) -> bool:
    """Whether it is a pipe or a device: of links, and of files that they lead to, the system's."""
    directory = str(path.absolute().parent)
    if directory in SYSTEM or directory.startswith("/proc/"):
        return True
    return path.exists() and not path.is_file() and not path.is_symlink()


def is_link(path: Path) -> bool:
    """Whether what we would write into is a symbolic link, or anything but a file."""
    return path.is_symlink() or (path.exists() and not path.is_file())


def inner_directory(path: Path) -> None:
    """Make a directory inside one of ours; an OSError if a link leads out of it."""
    path.mkdir(exist_ok=True)
    if path.is_symlink():
        raise OSError(errno.ELOOP, THROUGH_LINK, str(path))


def appending(path: Path) -> IO[str]:
    """A file of text to append to; an OSError if it is a link or a pipe."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o666)
    if stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return open(handle, "a", encoding="utf-8")  # noqa: PTH123  # whoever asks closes it


def write_text(path: Path, text: str) -> None:
    """Write a whole file of text; what no text can hold, as in odd names of files, is escaped."""
    with whole_file(path) as file:
        file.write(text.encode(errors="backslashreplace"))


def remove_unfinished(directory: Path) -> None:
    """Delete the unfinished files that killed writers left in a directory."""
    for path in directory.glob(f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def sync(directory: Path) -> None:
    """Make the new names in a directory survive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
