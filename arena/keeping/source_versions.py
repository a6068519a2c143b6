"""Versions of a user's file, such as `heur.py@HEAD~1`: their content where a bot can begin."""

import ast
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.keeping.git_files import Content, GitTree, VersionError, tree_of
from arena.keeping.kept_sources import LARGEST, place_of
from arena.keeping.provenance import read_run
from arena.planning.file_names import path_in_plan, versions_directory
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
        contents: Contents = {path.name: kept_content(directory, path)}
    else:
        contents = contents_at(tree_of(path, version), path)
    return written_down(contents, path.name)


def contents_at(tree: GitTree, path: Path) -> Contents:
    """A file of a commit, and those that it imports from beside it, directly or not."""
    place = tree.place(path.parent.resolve() / path.name)
    above, _, name = place.rpartition("/")
    prefix = f"{above}/" if above else ""
    contents = {name: tree.content(place)}

    def of_sibling(sibling: str) -> Content | None:
        try:
            return tree.content(f"{prefix}{sibling}")
        except VersionError:
            return None

    waiting = [name]
    while waiting and len(contents) < MOST_SIBLINGS:
        for each in imports_beside(waiting.pop(), contents):
            sibling = None if each in contents else of_sibling(each)
            if sibling is not None:
                contents[each] = sibling
                waiting.append(each)
    return contents


def imports_beside(name: str, contents: Contents) -> Iterator[str]:
    """The names that files imported by a Python file would have, were they beside it."""
    if not name.endswith(".py"):
        return
    try:
        tree = ast.parse(contents[name].text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names]
        for each in names:
            yield f"{each.partition('.')[0]}.py"


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


def kept_content(directory: Path, path: Path) -> Content:
    """The content of a user's file as a run kept it: of this path, else of this name."""
    name, digest = path.name, digest_in(read_run(directory), directory.name, path)
    kept = place_of(directory, name, digest)
    try:
        if kept is None:
            raise FileNotFoundError
        content = read_bytes(kept, LARGEST)
    except (OSError, TooMuch):
        raise VersionError(f"run {directory.name} kept no copy of {quoted(name)}") from None
    if hashlib.blake2b(content, digest_size=8).hexdigest() != digest:
        raise VersionError(f"the copy of {quoted(name)} in run {directory.name} was changed")
    return Content(content, os.access(kept, os.X_OK))


def digest_in(stored: KeyValues, run: str, path: Path) -> object:
    """The digest of a user's file in a run; a VersionError says what the run has instead."""
    files, base = stored.get("files", {}), Path(str(stored.get("path", ""))).parent
    digests = files if isinstance(files, dict) else {}
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
