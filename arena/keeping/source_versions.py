"""Versions of a user's file, such as `heur.py@HEAD~1`: their content where a bot can begin."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from agents.languages import source_tree
from arena.keeping.git_files import Content, GitTree, VersionError, tree_of
from arena.keeping.kept_sources import LARGEST, kept_digests, place_of, tree_digest
from arena.keeping.provenance import read_run
from arena.planning.file_names import path_in_plan, versions_directory
from games.file_trees import candidates, place_beside
from games.imports import imported_files
from games.keys import KeyValues
from games.limited_files import TooMuch, read_bytes
from games.names import listed, quoted
from games.whole_files import inner_directory, whole_file

RUN = "run:"
# The first `@` after a file's ending; what follows a last colon is a name in the file.
VERSIONED = re.compile(r"(.+?\.\w+)@(run:[^:]+|(?!run:)[^:]+)(?::([A-Za-z_]\w*))?")
MOST_SIBLINGS = 200
Contents = Mapping[str, Content]  # by places below one directory


class VersionedName(NamedTuple):
    """What `heur.py@HEAD~1:evaluate` says; no name means the usual one."""

    file: str
    version: str
    name: str


def versioned(written: str) -> VersionedName | None:
    """The parts of a reference to a version of a file; None if it is none."""
    found = VERSIONED.fullmatch(written)
    return VersionedName(found[1], found[2], found[3] or "") if found else None


def materialised(path: Path, version: str, results: tuple[Path, ...]) -> Path:
    """A file with this version's content, and with the files of the same version that it imports.

    Runs are looked for below `results`. A VersionError says why there is no such version.
    """
    if version.startswith(RUN):
        directory = run_named(version.removeprefix(RUN), results)
        contents: Contents = kept_contents(directory, path)
    else:
        contents = contents_at(tree_of(path, version), path)
    return written_down(contents, path.name)


def contents_at(tree: GitTree, path: Path) -> Contents:
    """A file of a commit, and those that it imports from beside it, directly or not."""
    place = PurePosixPath(tree.place(path.parent.resolve() / path.name))
    contents = {place: tree.content(str(place))}
    if path.suffix == ".py":
        listed_files = [PurePosixPath(each) for each in tree.below(str(place.parent))]

        def read(file: PurePosixPath) -> bytes | None:
            if file not in contents:
                try:
                    contents[file] = tree.content(str(file))
                except VersionError:
                    return None
            return contents[file].text

        def find(importer: PurePosixPath, name: str) -> list[PurePosixPath]:
            if len(contents) > MOST_SIBLINGS:
                return []
            beside = place_beside(place.parent, importer, name)
            modules = {*candidates(beside)} if beside is not None else set()
            return [each for each in listed_files if each in modules or beside in each.parents]

        imported_files([place], read, find)
    return {file.relative_to(place.parent).as_posix(): each for file, each in contents.items()}


def run_named(name: str, results: tuple[Path, ...]) -> Path:
    """The directory of a run by the first letters of its name, or by its path."""
    if "/" in name:
        if not read_run(Path(name)):
            raise VersionError(f"{quoted(name)} is not a run's directory: it has no run.json")
        return Path(name)
    if not re.fullmatch(r"[0-9a-f]{2,40}", name):
        raise VersionError(f"a run is named by the letters of its directory, got {quoted(name)}")
    found = {each.resolve(): each for below in results for each in below.glob(f"*/{name}*")}
    runs = sorted(each for each in found.values() if read_run(each))
    if not runs:
        below = listed([str(each) for each in results])
        raise VersionError(f"there is no run {name} below {below}")
    if len(runs) > 1:
        raise VersionError(f"{len(runs)} runs begin with {name}: {listed([r.name for r in runs])}")
    return runs[0]


def kept_contents(directory: Path, path: Path) -> Contents:
    """Return a user's file as a run kept it, with what it imports: of this path, else this name."""
    name, digest = path.name, digest_in(read_run(directory), directory.name, path)
    kept = place_of(directory, name, digest)
    try:
        if kept is None or not kept.is_file():
            raise FileNotFoundError
        files = source_tree(kept).files
        contents = {
            each: Content(read_bytes(file, LARGEST), os.access(file, os.X_OK))
            for each, file in files.items()
        }
    except (OSError, TooMuch):
        raise VersionError(f"run {directory.name} kept no copy of {quoted(name)}") from None
    if tree_digest(kept) != digest:
        raise VersionError(f"the copy of {quoted(name)} in run {directory.name} was changed")
    return contents


def digest_in(stored: KeyValues, run: str, path: Path) -> object:
    """The digest of a user's file in a run; a VersionError says what the run has instead."""
    digests, base = kept_digests(stored), Path(str(stored.get("path", ""))).parent
    for each, digest in digests.items():
        if path_in_plan(each, base).resolve() == path:
            return digest
    same = {digest for each, digest in digests.items() if Path(each).name == path.name}
    if len(same) == 1:
        return same.pop()
    name = quoted(path.name)
    if same:
        raise VersionError(f"run {run} has {len(same)} files called {name}")
    own = f"it has {listed([Path(each).name for each in digests])}" if digests else "it has none"
    raise VersionError(f"run {run} has no file {name} ({own})")


def written_down(contents: Contents, name: str) -> Path:
    """The files in a directory that is named by what they hold; where the one of this name is."""
    digest = hashlib.blake2b(digest_size=8)
    for each in sorted(contents):
        digest.update(f"{each} {len(contents[each].text)}\n".encode() + contents[each].text)
    directory = versions_directory() / digest.hexdigest()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        inner_directory(directory)
        for each, content in contents.items():
            place = directory
            for part in PurePosixPath(each).parts[:-1]:
                place /= part
                inner_directory(place)
            _write(directory / each, content)
    except OSError as error:
        raise VersionError(f"a version cannot be kept there ({error})") from None
    return directory / name


def _write(path: Path, content: Content) -> None:
    """Write a file that is not there as it must be."""
    try:
        same = not path.is_symlink() and read_bytes(path, LARGEST) == content.text
    except (OSError, TooMuch):
        same = False
    if not same:
        with whole_file(path) as file:
            file.write(content.text)
            os.fchmod(file.fileno(), 0o755 if content.program else 0o644)
