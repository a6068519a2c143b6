"""Copies of users' files that a run keeps, and versions of files from git or from a run."""

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from agents.core import SpecError
from agents.languages import source_tree
from arena.planning.plan import Plan, copy_of, portable_path, resolve_path, versions_cache
from arena.storage.git import FileContent, Revision, VersionError, open_revision
from arena.storage.provenance import RunIdentity, file_digest, load_run_file, source_digest
from games.base.errors import Unfinished, printable
from games.base.file_trees import FileTree, import_location, module_files
from games.base.files import InputTooLarge, atomic_write, make_subdirectory, read_with_limit
from games.base.imports import follow_imports
from games.base.schema import KeyValues
from games.base.text import join_names, quote

if TYPE_CHECKING:  # --help needs no SQLite
    from arena.storage.journal import RunDirectory

SOURCES = "sources"
MAX_BYTES = 4 << 20  # of one file: sources are small; large engines are not copied
MAX_TREE_BYTES = 32 << 20
DIGEST = re.compile(r"[0-9a-f]{16}")
RUN = "run:"
# The first `@` after a file's ending; a name in the file follows a last colon.
VERSIONED = re.compile(r"(.+?\.\w+)@(run:[^:]+|(?!run:)[^:]+)(?::([A-Za-z_]\w*))?")
MAX_IMPORTS = 200
Contents = Mapping[str, FileContent]  # by places below one directory
# Time between two checks of files: at least seconds, and a multiple of the time of a check.
WATCH_SECONDS, WATCH_FACTOR = 2.0, 50.0
RESULTS = "results"  # the directory of runs, next to an experiment or here


def copy_sources(directory: Path, plan: Plan, identity: RunIdentity) -> dict[Path, Path]:
    """Copy the small files and directories of users in a plan, with everything they import.

    Return the copies by the paths of their originals. A copy has the digest in the run's identity.
    """
    copies: dict[Path, Path] = {}
    for tree in plan.file_trees():
        digest = identity.sources.get(portable_path(tree.path, plan.base), "")
        copy = copy_path(directory, tree.path.name, digest)
        if copy is None or not _is_small(tree):
            continue
        if tree_digest(copy) != digest:
            _copy(tree, copy)
        if tree_digest(copy) == digest:
            copies[tree.path] = copy.resolve()
        else:
            shutil.rmtree(copy.parent, ignore_errors=True)
    return copies


def playable_copies(plan: Plan, copies: Mapping[Path, Path]) -> dict[Path, Path]:
    """Return the copies that are played in place of the originals.

    The original of a directory is played if its path is in a file or a variable of the bot, and so
    is everything in a directory that has no copy.
    """
    trees = plan.file_trees()
    texts = [str(spec.options.get("environment", "")).encode() for spec in plan.agents.values()]
    texts += [text for tree in trees if tree.path in copies for text in _contents(tree)]
    fixed = [
        tree.path
        for tree in trees
        if tree.path not in copies
        or (tree.is_directory and any(os.fsencode(tree.path) in text for text in texts))
    ]
    return {
        path: copy
        for path, copy in copies.items()
        if not any(path.is_relative_to(each) for each in fixed)
    }


def _contents(tree: FileTree) -> list[bytes]:
    try:
        return [path.read_bytes() for path in tree.files.values()]
    except OSError:
        return []


class SourceWatch:
    """Checks whether files of a run that are played without a copy are edited."""

    def __init__(self, plan: Plan, copies: Mapping[Path, Path]) -> None:
        """`copies` are the copies that are played."""
        inside = (*copies.values(),)
        self.files = {
            path: file_status(path)
            for tree in plan.file_trees()
            if not any(tree.path.is_relative_to(each) for each in inside)
            for path in tree.files.values()
        }
        self.next_check = 0.0

    def check(self) -> None:
        """Raise SourceEdited if a file was edited; a call soon after a check does nothing."""
        if time.monotonic() < self.next_check:
            return
        begun = time.monotonic()
        edited = next((path for path, was in self.files.items() if file_status(path) != was), None)
        taken = time.monotonic() - begun
        self.next_check = time.monotonic() + WATCH_SECONDS + WATCH_FACTOR * taken
        if edited is not None:
            raise SourceEdited(
                f"{printable(str(edited))} was edited while the run played, and agents load it "
                "from there: the games of this session are not kept; the same command plays with "
                "the file as it is now"
            )

    def check_now(self) -> None:
        """Raise SourceEdited if a file was edited."""
        self.next_check = 0.0
        self.check()


class SourceEdited(Unfinished):
    """Files of a run were edited while it played with them."""


@contextlib.contextmanager
def forget_after_edit(watch: SourceWatch, directory: "RunDirectory") -> Iterator[None]:
    """Remove the games of this session if files that its agents load were edited."""
    before = directory.item_counts()
    try:
        try:
            yield
        finally:
            watch.check_now()
    except SourceEdited:
        directory.forget_since(before)
        raise


def file_status(path: Path) -> tuple[int, ...]:
    """Return facts that an edit of a file changes; empty if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_small(tree: FileTree) -> bool:
    try:
        sizes = [path.stat().st_size for path in tree.files.values()]
    except OSError:
        return False
    return not tree.is_large and max(sizes, default=0) <= MAX_BYTES and sum(sizes) <= MAX_TREE_BYTES


def _copy(tree: FileTree, copy: Path) -> None:
    make_subdirectory(copy.parent.parent)
    make_subdirectory(copy.parent)
    for name, path in tree.files.items():
        with contextlib.suppress(InputTooLarge, OSError):
            _write_below(copy.parent, name, _read_file(path))


def _read_file(path: Path) -> FileContent:
    return FileContent(read_with_limit(path, MAX_BYTES), os.access(path, os.X_OK))


def _write_below(directory: Path, name: str, file: FileContent) -> None:
    """Write a file at a place below a directory, without following links."""
    parts = PurePosixPath(name).parts
    for part in parts[:-1]:
        directory /= part
        make_subdirectory(directory)
    with atomic_write(directory / parts[-1]) as output:
        output.write(file.content)
        os.fchmod(output.fileno(), 0o755 if file.is_program else 0o644)


def copy_path(directory: Path, name: str, digest: object) -> Path | None:
    """Return the path of a copy with this name and digest; None if they cannot be ours."""
    last = Path(name).name
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or last in ("", ".", ".."):
        return None
    return directory / SOURCES / digest / last


def copy_digests(stored: KeyValues) -> KeyValues:
    """Return the digests of a run's copies, by the names of their originals."""
    digests = stored.get("sources")
    return digests if isinstance(digests, dict) else {}


def find_copy(directory: Path, stored: KeyValues, name: str) -> Path | None:
    """Return a run's copy of one of the files in its run.json; None if there is none."""
    for source, digest in copy_digests(stored).items():
        copy = copy_path(directory, source, digest)
        above = PurePosixPath(source).parent
        if copy is None or not PurePosixPath(name).is_relative_to(above):
            continue
        path = copy.parent / PurePosixPath(name).relative_to(above)
        if ".." not in path.relative_to(copy.parent).parts and path.is_file():
            return path
    return None


def find_copies(directory: Path, sources: Mapping[str, object], base: Path) -> dict[Path, Path]:
    """Return the copies of files that have changed since the run, by the files' paths.

    `sources` are the digests of run.json, by paths relative to `base`.
    """
    found: dict[Path, Path] = {}
    for name, digest in sources.items():
        path, copy = resolve_path(name, base).resolve(), copy_path(directory, name, digest)
        if tree_digest(path) != digest and copy is not None and tree_digest(copy) == digest:
            found[path] = copy.resolve()
    return found


def has_copy(path: Path, copies: Mapping[Path, Path]) -> bool:
    """Return whether a copy replaces a file, by itself or with its directory."""
    return copy_of(path, copies) is not None or any(
        each.parent in path.parents and (copy.parent / path.relative_to(each.parent)).is_file()
        for each, copy in copies.items()
    )


def tree_digest(path: Path) -> str | None:
    """Return the digest of a file with its imports or of a directory; None: it cannot be read."""
    try:
        return source_digest(source_tree(path))
    except (OSError, InputTooLarge):
        return None


def file_digest_or_none(path: Path) -> str | None:
    """Return the digest of one file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None


class VersionReference(NamedTuple):
    """The parts of `heur.py@HEAD~1:evaluate`; an empty name means the usual one."""

    file: str
    version: str
    name: str


def parse_version(text: str) -> VersionReference | None:
    """Return the parts of a reference to a version of a file; None if it is none."""
    found = VERSIONED.fullmatch(text)
    return VersionReference(found[1], found[2], found[3] or "") if found else None


def checkout_version(path: Path, version: str, results: tuple[Path, ...]) -> Path:
    """Write a version of a file, and of the files that it imports, and return its path.

    Runs are searched in `results`. A VersionError says why there is no such version.
    """
    if version.startswith(RUN):
        directory = run_of_name(version.removeprefix(RUN), results)
        contents: Contents = contents_of_copy(directory, path)
    else:
        contents = files_at_revision(open_revision(path, version), path)
    return write_version(contents, path.name)


def files_at_revision(revision: Revision, path: Path) -> Contents:
    """Return a file of a commit and the files that it imports from its directory."""
    place = PurePosixPath(revision.place(path.parent.resolve() / path.name))
    contents = {place: revision.content(str(place))}
    if path.suffix == ".py":
        files = [PurePosixPath(each) for each in revision.below(str(place.parent))]

        def read(file: PurePosixPath) -> bytes | None:
            if file not in contents:
                try:
                    contents[file] = revision.content(str(file))
                except VersionError:
                    return None
            return contents[file].content

        def find(importer: PurePosixPath, name: str) -> list[PurePosixPath]:
            if len(contents) > MAX_IMPORTS:
                return []
            location = import_location(place.parent, importer, name)
            modules = {*module_files(location)} if location is not None else set()
            return [each for each in files if each in modules or location in each.parents]

        follow_imports([place], read, find)
    return {file.relative_to(place.parent).as_posix(): each for file, each in contents.items()}


def run_of_name(name: str, results: tuple[Path, ...]) -> Path:
    """Return the directory of a run by the first letters of its name, or by its path."""
    if "/" in name:
        if not load_run_file(Path(name)):
            raise VersionError(f"{quote(name)} is not a run's directory: it has no run.json")
        return Path(name)
    if not re.fullmatch(r"[0-9a-f]{2,40}", name):
        raise VersionError(f"a run is named by the letters of its directory, got {quote(name)}")
    found = {each.resolve(): each for below in results for each in below.glob(f"*/{name}*")}
    runs = sorted(each for each in found.values() if load_run_file(each))
    if not runs:
        below = join_names([str(each) for each in results])
        raise VersionError(f"there is no run {name} below {below}")
    if len(runs) > 1:
        names = join_names([run.name for run in runs])
        raise VersionError(f"{len(runs)} runs begin with {name}: {names}")
    return runs[0]


def contents_of_copy(directory: Path, path: Path) -> Contents:
    """Return a run's copy of a user's file with its imports: of this path, else of this name."""
    name, digest = path.name, digest_in_run(load_run_file(directory), directory.name, path)
    copy = copy_path(directory, name, digest)
    try:
        if copy is None or not copy.is_file():
            raise FileNotFoundError
        files = source_tree(copy).files
        contents = {each: _read_file(file) for each, file in files.items()}
    except (OSError, InputTooLarge):
        raise VersionError(f"run {directory.name} kept no copy of {quote(name)}") from None
    if tree_digest(copy) != digest:
        raise VersionError(f"the copy of {quote(name)} in run {directory.name} was changed")
    return contents


def digest_in_run(stored: KeyValues, run: str, path: Path) -> object:
    """Return the digest of a user's file in a run; a VersionError has the files of the run."""
    digests, base = copy_digests(stored), Path(str(stored.get("path", ""))).parent
    for each, digest in digests.items():
        if resolve_path(each, base).resolve() == path:
            return digest
    same_name = {digest for each, digest in digests.items() if Path(each).name == path.name}
    if len(same_name) == 1:
        return same_name.pop()
    name = quote(path.name)
    if same_name:
        raise VersionError(f"run {run} has {len(same_name)} files called {name}")
    names = join_names([Path(each).name for each in digests])
    raise VersionError(f"run {run} has no file {name} (it has {names if digests else 'none'})")


def write_version(contents: Contents, name: str) -> Path:
    """Write files to a directory named by their content; return the path of one of them."""
    digest = hashlib.blake2b(digest_size=8)
    for each in sorted(contents):
        content = contents[each].content
        digest.update(f"{each} {len(content)}\n".encode() + content)
    directory = versions_cache() / digest.hexdigest()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        make_subdirectory(directory)
        for each, file in contents.items():
            if not _has_content(directory / each, file):
                _write_below(directory, each, file)
    except OSError as error:
        raise VersionError(f"a version cannot be kept there ({error})") from None
    return directory / name


def _has_content(path: Path, file: FileContent) -> bool:
    try:
        return not path.is_symlink() and read_with_limit(path, MAX_BYTES) == file.content
    except (OSError, InputTooLarge):
        return False


def find_version(reference: VersionReference, directory: Path) -> Path:
    """Return the path of a version of a file; a VersionError says why there is none."""
    bases = (directory, Path.cwd())
    results = tuple(dict.fromkeys((base / RESULTS).resolve() for base in bases))
    errors = []
    for base in bases:
        path = base / Path(reference.file).expanduser()
        try:
            return checkout_version(path.parent.resolve() / path.name, reference.version, results)
        except (VersionError, OSError, RuntimeError) as error:  # a home that is not known
            errors.append(str(error))
    raise VersionError(errors[0])


def resolve_version(word: str, directory: Path) -> str:
    """Return the path of the version that a word names; any other word does not change.

    SpecError says why there is no such version.
    """
    reference = parse_version(word)
    if reference is None or (directory / word).exists():
        return word
    try:
        path = find_version(reference, directory)
    except VersionError as error:
        raise SpecError(str(error)) from None
    return f"{path}:{reference.name}" if reference.name else str(path)
