"""Files that are whole or not there: nothing else of ours opens a file for writing."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

UNFINISHED = ".part"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it replaces the one of this name once it is whole and on the disk."""
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a whole file of text."""
    with whole_file(path) as file:
        file.write(text.encode())


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
