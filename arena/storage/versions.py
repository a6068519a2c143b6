"""Copies and versions of user files."""

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from agents.core import SpecError
from agents.languages import source_tree
from arena.planning.plan import Plan, copy_of, portable_path, resolve_path, versions_cache
from arena.storage.git import FileContent, Revision, VersionError, open_revision
from arena.storage.provenance import RunIdentity, file_digest, read_run, source_digest
from games.base.file_trees import FileTree, candidates, place_beside
from games.base.files import InputTooLarge, atomic_write, make_subdirectory, read_limited
from games.base.imports import imported_files
from games.base.schema import KeyValues
from games.base.text import listed, quote

SOURCES = "sources"
LARGEST = 4 << 20  # bytes of one file: sources are small, engines are not kept
LARGEST_TREE = 32 << 20
DIGEST = re.compile(r"[0-9a-f]{16}")
RUN = "run:"
# The first `@` after a file's ending; what follows a last colon is a name in the file.
VERSIONED = re.compile(r"(.+?\.\w+)@(run:[^:]+|(?!run:)[^:]+)(?::([A-Za-z_]\w*))?")
MOST_SIBLINGS = 200
Contents = Mapping[str, FileContent]  # by places below one directory
RESULTS = "results"  # the directory of runs, next to an experiment or here


def copy_user_files(directory: Path, plan: Plan, origin: RunIdentity) -> None:
    """Copy small user files that the plan names, with all that belongs to them."""
    for tree in plan.trees():
        digest = origin.sources.get(portable_path(tree.path, plan.base), "")
        kept = copy_path(directory, tree.path.name, digest)
        if kept is None or kept.exists() or not _is_small(tree):
            continue
        _copy(tree, kept)
        if tree_digest(kept) != digest:
            # It was edited at this very moment.
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink(missing_ok=True)


def _is_small(tree: FileTree) -> bool:
    try:
        sizes = [path.stat().st_size for path in tree.files.values()]
    except OSError:
        return False
    return not tree.is_large and max(sizes, default=0) <= LARGEST and sum(sizes) <= LARGEST_TREE


def _copy(tree: FileTree, kept: Path) -> None:
    """Copy the files of a tree."""
    make_subdirectory(kept.parent.parent)
    make_subdirectory(kept.parent)
    for name, path in tree.files.items():
        try:
            content, program = read_limited(path, LARGEST), os.access(path, os.X_OK)
        except (InputTooLarge, OSError):
            continue
        place = kept.parent
        for part in PurePosixPath(name).parts[:-1]:
            place /= part
            make_subdirectory(place)
        with atomic_write(place / path.name) as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o755 if program else 0o644)


def copy_path(directory: Path, name: str, digest: object) -> Path | None:
    """Return the path of a kept file of this name and digest; None if they cannot be ours."""
    last = Path(name).name
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or last in ("", ".", ".."):
        return None
    return directory / SOURCES / digest / last


def kept_digests(stored: KeyValues) -> KeyValues:
    """Return the digests by which a run keeps copies; earlier versions kept each file alone."""
    digests = stored.get("sources", stored.get("files"))
    return digests if isinstance(digests, dict) else {}


def kept_file(directory: Path, stored: KeyValues, name: str) -> Path | None:
    """Return where a run keeps one of the files in its run.json; None if it kept no copy."""
    for source, digest in kept_digests(stored).items():
        kept = copy_path(directory, source, digest)
        above = PurePosixPath(source).parent
        if kept is None or not PurePosixPath(name).is_relative_to(above):
            continue
        path = kept.parent / PurePosixPath(name).relative_to(above)
        if ".." not in path.relative_to(kept.parent).parts and path.is_file():
            return path
    return None


def find_copies(directory: Path, sources: Mapping[str, object], base: Path) -> dict[Path, Path]:
    """Return the kept copies of files that have changed since the run, by their paths.

    `sources` are the digests of run.json, by paths seen from `base`.
    """
    found: dict[Path, Path] = {}
    for name, digest in sources.items():
        path, kept = resolve_path(name, base).resolve(), copy_path(directory, name, digest)
        if tree_digest(path) != digest and kept is not None and tree_digest(kept) == digest:
            found[path] = kept.resolve()
    return found


def is_replaced(path: Path, copies: Mapping[Path, Path]) -> bool:
    """Return whether a copy replaces a file, by itself or with its directory."""
    return copy_of(path, copies) is not None or any(
        each.parent in path.parents and (copy.parent / path.relative_to(each.parent)).is_file()
        for each, copy in copies.items()
    )


def tree_digest(path: Path) -> str | None:
    """Digest of a file with what it imports, or of a directory; None if it cannot be read."""
    try:
        return source_digest(source_tree(path))
    except (OSError, InputTooLarge):
        return None


def file_digest_or_none(path: Path) -> str | None:
    """Digest of one file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None


class VersionReference(NamedTuple):
    """What `heur.py@HEAD~1:evaluate` says; no name means the usual one."""

    file: str
    version: str
    name: str


def parse_version(written: str) -> VersionReference | None:
    """The parts of a reference to a version of a file; None if it is none."""
    found = VERSIONED.fullmatch(written)
    return VersionReference(found[1], found[2], found[3] or "") if found else None


def checkout_version(path: Path, version: str, results: tuple[Path, ...]) -> Path:
    """A file with this version's content, and with the files of the same version that it imports.

    Runs are looked for below `results`. A VersionError says why there is no such version.
    """
    if version.startswith(RUN):
        directory = run_named(version.removeprefix(RUN), results)
        contents: Contents = kept_contents(directory, path)
    else:
        contents = files_at_revision(open_revision(path, version), path)
    return write_version(contents, path.name)


def files_at_revision(tree: Revision, path: Path) -> Contents:
    """Return a file of a commit and the files that it imports from its directory."""
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
    """Return the directory of a run by the first letters of its name, or by its path."""
    if "/" in name:
        if not read_run(Path(name)):
            raise VersionError(f"{quote(name)} is not a run's directory: it has no run.json")
        return Path(name)
    if not re.fullmatch(r"[0-9a-f]{2,40}", name):
        raise VersionError(f"a run is named by the letters of its directory, got {quote(name)}")
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
    name, digest = path.name, stored_digest(read_run(directory), directory.name, path)
    kept = copy_path(directory, name, digest)
    try:
        if kept is None or not kept.is_file():
            raise FileNotFoundError
        files = source_tree(kept).files
        contents = {
            each: FileContent(read_limited(file, LARGEST), os.access(file, os.X_OK))
            for each, file in files.items()
        }
    except (OSError, InputTooLarge):
        raise VersionError(f"run {directory.name} kept no copy of {quote(name)}") from None
    if tree_digest(kept) != digest:
        raise VersionError(f"the copy of {quote(name)} in run {directory.name} was changed")
    return contents


def stored_digest(stored: KeyValues, run: str, path: Path) -> object:
    """Return the digest of a user's file in a run; a VersionError says what the run has instead."""
    digests, base = kept_digests(stored), Path(str(stored.get("path", ""))).parent
    for each, digest in digests.items():
        if resolve_path(each, base).resolve() == path:
            return digest
    same = {digest for each, digest in digests.items() if Path(each).name == path.name}
    if len(same) == 1:
        return same.pop()
    name = quote(path.name)
    if same:
        raise VersionError(f"run {run} has {len(same)} files called {name}")
    own = f"it has {listed([Path(each).name for each in digests])}" if digests else "it has none"
    raise VersionError(f"run {run} has no file {name} ({own})")


def write_version(contents: Contents, name: str) -> Path:
    """Write files to a directory named by their content; return the path of one of them."""
    digest = hashlib.blake2b(digest_size=8)
    for each in sorted(contents):
        digest.update(f"{each} {len(contents[each].text)}\n".encode() + contents[each].text)
    directory = versions_cache() / digest.hexdigest()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        make_subdirectory(directory)
        for each, content in contents.items():
            place = directory
            for part in PurePosixPath(each).parts[:-1]:
                place /= part
                make_subdirectory(place)
            _write(directory / each, content)
    except OSError as error:
        raise VersionError(f"a version cannot be kept there ({error})") from None
    return directory / name


def _write(path: Path, content: FileContent) -> None:
    """Write a file unless it is already there with this content."""
    try:
        same = not path.is_symlink() and read_limited(path, LARGEST) == content.text
    except (OSError, InputTooLarge):
        same = False
    if not same:
        with atomic_write(path) as file:
            file.write(content.text)
            os.fchmod(file.fileno(), 0o755 if content.program else 0o644)


def find_version(wanted: VersionReference, directory: Path) -> Path:
    """Return the path of a version of a file; a VersionError says why there is none."""
    bases = (directory, Path.cwd())
    results = tuple(dict.fromkeys((base / RESULTS).resolve() for base in bases))
    errors = []
    for base in bases:
        path = base / Path(wanted.file).expanduser()
        try:
            return checkout_version(path.parent.resolve() / path.name, wanted.version, results)
        except (VersionError, OSError, RuntimeError) as error:  # a home that is not known
            errors.append(str(error))
    raise VersionError(errors[0])


def resolve_version(word: str, directory: Path) -> str:
    """Return the path of the version that a word names; any other word stays.

    SpecError says why there is no such version.
    """
    wanted = parse_version(word)
    if wanted is None or (directory / word).exists():
        return word
    try:
        path = find_version(wanted, directory)
    except VersionError as error:
        raise SpecError(str(error)) from None
    return f"{path}:{wanted.name}" if wanted.name else str(path)
