"""The users' files that travel to other machines, by content, keeping their names."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agents.languages import source_tree
from games.limited_files import TooMuch
from games.names import quoted
from games.terminal import Mistake
from games.whole_files import whole_file

MOST_BYTES = 64 << 20  # of all files of a user's: they go to each worker


class File(NamedTuple):
    """A file of a user's."""

    content: bytes
    program: bool  # whether it may be executed


class SentFiles:
    """The files that are sent, each at a place that follows from its content."""

    def __init__(self) -> None:
        """Nothing is packed yet."""
        self.files: dict[str, File] = {}
        self.places: dict[Path, str] = {}
        self.bytes = 0

    def place(self, path: Path) -> str:
        """Where this file or directory lies on any machine, below a directory for all of them."""
        if path not in self.places:
            self.places[path] = self._packed(path)
        return self.places[path]

    def _packed(self, path: Path) -> str:
        """Take a file with what it imports, or all files of a directory."""
        try:
            inside = {name: self._read(each) for name, each in source_tree(path).files.items()}
        except TooMuch as error:
            raise Mistake(f"{error}; they are not sent to a cluster") from None
        digest = hashlib.blake2b(digest_size=8)
        for name, file in sorted(inside.items()):
            digest.update(f"{name} {file.program} ".encode())
            digest.update(hashlib.blake2b(file.content, digest_size=8).digest())
        base = Path(digest.hexdigest())
        self.files |= {(base / name).as_posix(): file for name, file in inside.items()}
        return (base / path.name).as_posix()

    def _read(self, path: Path) -> File:
        try:
            self.bytes += path.stat().st_size
            if self.bytes > MOST_BYTES:
                raise Mistake(
                    f"{quoted(str(path))}: files of more than {MOST_BYTES >> 20} MB in all are not "
                    "sent to a cluster; install them on its machines, each in a directory bin"
                )
            return File(path.read_bytes(), os.access(path, os.X_OK))
        except OSError as error:
            raise Mistake(f"{quoted(str(path))}: cannot be sent to a cluster ({error})") from None


def stays(path: Path) -> bool:
    """Whether a path means the same on another machine: it is installed, or not here.

    A program in a directory `bin` takes its library from beside it, and is useless without.
    """
    return not path.exists() or path.parent.name == "bin"


def unpack(files: Mapping[str, File], directory: Path) -> None:
    """Write the files that are not there yet below a directory."""
    for place, file in files.items():
        path = directory / place
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as written:
                written.write(file.content)
                os.fchmod(written.fileno(), 0o755 if file.program else 0o644)
