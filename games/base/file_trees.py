"""All files behind a user's path: a file with everything that it imports, or a directory."""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import all_suffixes
from pathlib import Path

from games.base.files import InputTooLarge, read_with_limit
from games.base.imports import AnyPath, directory_of_import, follow_imports

LARGEST_SOURCE = 4 << 20  # bytes; larger Python files are not parsed
MOST_IMPORTED = 2_000
# For larger directories, names, sizes and times are hashed instead of contents.
MOST_FILES, MOST_BYTES = 5_000, 128 << 20
MOST_LISTED = 200_000  # files of a directory
# Caches, which can be rebuilt, and repositories, which change with every command.
IGNORED_DIRECTORIES = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
RUN_NAME = re.compile(r"((sweep|tune|learn)-)?[0-9a-f]{10}(\.old-[0-9]+)?")
RUN_FILES = frozenset({"lock", "journal.sqlite", "run.json"})
# A file of the same name in a user's directory does not hide these.
INSTALLED = sys.stdlib_module_names | {"games", "agents", "arena"}


@dataclass(frozen=True, slots=True)
class FileTree:
    """A user's file with the files that it imports from its directory, or a whole directory.

    The names in `files` are relative to the parent directory of `path`.
    """

    path: Path
    files: Mapping[str, Path]

    @property
    def is_directory(self) -> bool:
        """Return whether the path is a directory."""
        return self.path.is_dir()

    @property
    def bytes(self) -> int:
        """Return the size of all files."""
        return sum(path.stat().st_size for path in self.files.values() if path.is_file())

    @property
    def is_large(self) -> bool:
        """Return whether this is a directory with too much content to read completely."""
        return self.is_directory and (len(self.files) > MOST_FILES or self.bytes > MOST_BYTES)

    @property
    def top_level_paths(self) -> tuple[Path, ...]:
        """Return the files and packages of the tree in the directory of `path`."""
        names = dict.fromkeys(name.partition("/")[0] for name in self.files)
        return tuple(self.path.parent / name for name in names)

    def digest(self, size: int = 8) -> str:
        """Return the hex digest of all contents, or of names, sizes and times if `is_large`."""
        digest, large = hashlib.blake2b(digest_size=size), self.is_large
        for name, path in sorted(self.files.items()):
            # Names inside packages count; names of single files are already in import statements.
            label = name if "/" in name else str(path == self.path)
            if large:
                status = path.stat()
                words = f"{label} {status.st_size} {status.st_mtime_ns}\n"
                digest.update(os.fsencode(words))  # a name may be undecodable
                continue
            with path.open("rb") as file:  # in chunks: a program may be large
                digest.update(os.fsencode(f"{label} {os.fstat(file.fileno()).st_size}\n"))
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return digest.hexdigest()


def file_tree(path: Path) -> FileTree:
    """Return the files behind a path; InputTooLarge if the directory has too many files to list."""
    if path.is_dir():
        files = files_below(path)
    elif path.suffix == ".py":
        files = iter(neighbour_imports(path))
    else:
        files = iter([path])
    return FileTree(path, {file.relative_to(path.parent).as_posix(): file for file in files})


def add_to_search_path(path: Path) -> None:
    """Let a file import modules from its directory; installed packages take precedence."""
    if len(file_tree(path).files) > 1 and (place := str(path.parent)) not in sys.path:
        sys.path.append(place)


def neighbour_imports(path: Path) -> list[Path]:
    """Return a Python file and the files and packages of its directory that it imports."""
    count = 0

    def read(file: Path) -> bytes | None:
        nonlocal count
        count += 1
        if count > MOST_IMPORTED:
            return None
        if file.suffix != ".py":
            return b""
        try:
            return read_with_limit(file, LARGEST_SOURCE, pipes=False)
        except InputTooLarge:
            return b""
        except OSError:
            return None

    def find(importer: Path, name: str) -> Iterator[Path]:
        place = import_location(path.parent, importer, name)
        if place is None:
            return
        yield from (file for file in module_files(place) if file.is_file())
        if place.is_dir():
            yield from files_below(place)  # a submodule may be loaded by name

    files = follow_imports([path], read, find)
    return [path, *sorted(file for file in files if file != path)]


def import_location(root: AnyPath, importer: AnyPath, name: str) -> AnyPath | None:
    """Return the path, without suffix, of an imported user module; None if it is not a user's."""
    first = name.lstrip(".").partition(".")[0]
    start = directory_of_import(importer, name, root)
    installed = not name.startswith(".") and first in INSTALLED
    return start / first if first and not installed and start.is_relative_to(root) else None


def module_files(place: AnyPath) -> Iterator[AnyPath]:
    """Yield the files that may contain a module."""
    for suffix in all_suffixes():
        yield place.with_name(place.name + suffix)


def files_below(directory: Path) -> Iterator[Path]:
    """Yield all files below a directory in a fixed order, without caches and our run directories.

    Symbolic links are followed because bots can read their targets.
    """
    seen, count = set[str](), 0
    for parent, subdirectories, names in os.walk(directory, followlinks=True):
        real = os.path.realpath(parent)
        if real in seen or is_run_directory(parent, names):
            subdirectories.clear()
            continue
        seen.add(real)
        subdirectories[:] = sorted(set(subdirectories) - IGNORED_DIRECTORIES)
        for name in sorted(names):
            path = os.path.join(parent, name)  # noqa: PTH118  # ten times faster than a Path
            if _is_file(path):
                count += 1
                yield Path(path)
        if count > MOST_LISTED:
            raise InputTooLarge(
                f"{directory} has more than {MOST_LISTED:,} files: name only the subdirectories "
                "that are needed"
            )


def is_run_directory(directory: str, names: list[str]) -> bool:
    """Return whether a directory belongs to a run: its files change during the run."""
    return bool(RUN_NAME.fullmatch(os.path.basename(directory))) and not RUN_FILES.isdisjoint(names)  # noqa: PTH119


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:  # a dangling link
        return False
