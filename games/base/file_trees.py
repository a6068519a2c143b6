"""The files of a user's behind one path: a file with all that it imports, or a directory."""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import all_suffixes
from pathlib import Path

from games.base.files import InputTooLarge, read_limited
from games.base.imports import AnyPath, directory_of_import, imported_files

LARGEST_SOURCE = 4 << 20  # bytes of a Python file that is parsed
MOST_IMPORTED = 2_000
# Of directories with more, names, sizes and times are hashed in place of contents.
MOST_FILES, MOST_BYTES = 5_000, 128 << 20
MOST_LISTED = 200_000  # files of a directory
# What tools keep of what can be made again, and repositories, which change with every command.
NOT_COUNTED = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
RUN_NAME = re.compile(r"((sweep|tune|learn)-)?[0-9a-f]{10}(\.old-[0-9]+)?")
RUN_FILES = frozenset({"lock", "journal.sqlite", "run.json"})
# A file beside hides none of these from a user's.
INSTALLED = sys.stdlib_module_names | {"games", "agents", "arena"}


@dataclass(frozen=True, slots=True)
class FileTree:
    """A file of a user's with the files beside it that it imports, or a directory with all files.

    `files` are named by their places seen from the directory that `path` lies in.
    """

    path: Path
    files: Mapping[str, Path]

    @property
    def is_directory(self) -> bool:
        """Return whether the path is that of a directory."""
        return self.path.is_dir()

    @property
    def bytes(self) -> int:
        """Return the size of all files."""
        return sum(path.stat().st_size for path in self.files.values() if path.is_file())

    @property
    def is_large(self) -> bool:
        """Return whether it is a directory of too many or too large files to read all."""
        return self.is_directory and (len(self.files) > MOST_FILES or self.bytes > MOST_BYTES)

    @property
    def places(self) -> tuple[Path, ...]:
        """Return the files and packages beside `path` that the tree consists of."""
        names = dict.fromkeys(name.partition("/")[0] for name in self.files)
        return tuple(self.path.parent / name for name in names)

    def digest(self, size: int = 8) -> str:
        """Return the hex digest of all contents; of a large directory names, sizes and times."""
        digest, large = hashlib.blake2b(digest_size=size), self.is_large
        for name, path in sorted(self.files.items()):
            # Packages have names inside; of files side by side the import statements have them.
            label = name if "/" in name else str(path == self.path)
            if large:
                status = path.stat()
                words = f"{label} {status.st_size} {status.st_mtime_ns}\n"
                digest.update(os.fsencode(words))  # a name may be no text
                continue
            with path.open("rb") as file:  # piece by piece: a program may be large
                digest.update(os.fsencode(f"{label} {os.fstat(file.fileno()).st_size}\n"))
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return digest.hexdigest()


def file_tree(path: Path) -> FileTree:
    """Return the files behind a path; TooMuch if it is a directory of more than can be listed."""
    if path.is_dir():
        files = files_below(path)
    elif path.suffix == ".py":
        files = iter(imported_beside(path))
    else:
        files = iter([path])
    return FileTree(path, {each.relative_to(path.parent).as_posix(): each for each in files})


def find_beside(path: Path) -> None:
    """Let a file import what lies beside it, after all that is installed."""
    if len(file_tree(path).files) > 1 and (place := str(path.parent)) not in sys.path:
        sys.path.append(place)


def imported_beside(path: Path) -> list[Path]:
    """Return a Python file, and the files beside it and in packages beside it that it imports."""
    count = 0

    def read(file: Path) -> bytes | None:
        nonlocal count
        count += 1
        if count > MOST_IMPORTED:
            return None
        if file.suffix != ".py":
            return b""
        try:
            return read_limited(file, LARGEST_SOURCE, pipes=False)
        except InputTooLarge:
            return b""
        except OSError:
            return None

    def find(importer: Path, name: str) -> Iterator[Path]:
        place = place_beside(path.parent, importer, name)
        if place is None:
            return
        yield from (each for each in candidates(place) if each.is_file())
        if place.is_dir():
            yield from files_below(place)  # a part of a package may be loaded by its name

    found = imported_files([path], read, find)
    return [path, *sorted(each for each in found if each != path)]


def place_beside(root: AnyPath, importer: AnyPath, name: str) -> AnyPath | None:
    """Return where an import of a user's may find a module or package; None if in no place."""
    first = name.lstrip(".").partition(".")[0]
    start = directory_of_import(importer, name, root)
    installed = not name.startswith(".") and first in INSTALLED
    return start / first if first and not installed and start.is_relative_to(root) else None


def candidates(place: AnyPath) -> Iterator[AnyPath]:
    """Yield the files that a module may be."""
    for suffix in all_suffixes():
        yield place.with_name(place.name + suffix)


def files_below(directory: Path) -> Iterator[Path]:
    """Yield all files below a directory in a fixed order, without caches and runs of ours.

    Links are followed: what they lead to can be read.
    """
    seen, count = set[str](), 0
    for here, inside, names in os.walk(directory, followlinks=True):
        real = os.path.realpath(here)
        if real in seen or is_run(here, names):
            inside.clear()
            continue
        seen.add(real)
        inside[:] = sorted(name for name in inside if name not in NOT_COUNTED)
        for name in sorted(names):
            path = os.path.join(here, name)  # noqa: PTH118  # ten times as fast as a Path
            if _is_file(path):
                count += 1
                yield Path(path)
        if count > MOST_LISTED:
            raise InputTooLarge(
                f"{directory} has more than {MOST_LISTED:,} files: name the directories in it that "
                "are needed"
            )


def is_run(directory: str, names: list[str]) -> bool:
    """Return whether a directory is that of a run: results change while it is played."""
    return bool(RUN_NAME.fullmatch(os.path.basename(directory))) and not RUN_FILES.isdisjoint(names)  # noqa: PTH119


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:  # a link that leads nowhere
        return False
