"""The users' own files that a run keeps, by content, for the day when the originals are gone."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from agents.languages import source_tree
from arena.keeping.provenance import Origin, file_digest, source_digest
from arena.planning.file_names import name_in_plan, path_in_plan
from arena.planning.plan import Plan, copy_of
from games.file_trees import FileTree
from games.keys import KeyValues
from games.limited_files import TooMuch, read_bytes
from games.whole_files import inner_directory, whole_file

SOURCES = "sources"
LARGEST = 4 << 20  # bytes of one file: sources are small, engines are not kept
LARGEST_TREE = 32 << 20
DIGEST = re.compile(r"[0-9a-f]{16}")


def keep_sources(directory: Path, plan: Plan, origin: Origin) -> None:
    """Keep a copy of what the plan names with all its files, under their own names, if small."""
    for tree in plan.trees():
        digest = origin.sources.get(name_in_plan(tree.path, plan.base), "")
        kept = place_of(directory, tree.path.name, digest)
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
    inner_directory(kept.parent.parent)
    inner_directory(kept.parent)
    for name, path in tree.files.items():
        try:
            content, program = read_bytes(path, LARGEST), os.access(path, os.X_OK)
        except (TooMuch, OSError):
            continue
        place = kept.parent
        for part in PurePosixPath(name).parts[:-1]:
            place /= part
            inner_directory(place)
        with whole_file(place / path.name) as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o755 if program else 0o644)


def place_of(directory: Path, name: str, digest: object) -> Path | None:
    """Where the file or directory of this name and digest is kept; None if these cannot be ours."""
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
        kept = place_of(directory, source, digest)
        above = PurePosixPath(source).parent
        if kept is None or not PurePosixPath(name).is_relative_to(above):
            continue
        path = kept.parent / PurePosixPath(name).relative_to(above)
        if ".." not in path.relative_to(kept.parent).parts and path.is_file():
            return path
    return None


def replaced(directory: Path, sources: Mapping[str, object], base: Path) -> dict[Path, Path]:
    """What is no longer as it was played -> its kept copies, where there are any.

    `sources` are the digests of run.json, by paths seen from `base`.
    """
    found: dict[Path, Path] = {}
    for name, digest in sources.items():
        path, kept = path_in_plan(name, base).resolve(), place_of(directory, name, digest)
        if tree_digest(path) != digest and kept is not None and tree_digest(kept) == digest:
            found[path] = kept.resolve()
    return found


def is_replaced(path: Path, copies: Mapping[Path, Path]) -> bool:
    """Return whether a copy is taken in place of a file, by itself or with what it lies beside."""
    return copy_of(path, copies) is not None or any(
        each.parent in path.parents and (copy.parent / path.relative_to(each.parent)).is_file()
        for each, copy in copies.items()
    )


def tree_digest(path: Path) -> str | None:
    """Digest of a file with what it imports, or of a directory; None if it cannot be read."""
    try:
        return source_digest(source_tree(path))
    except (OSError, TooMuch):
        return None


def digest_now(path: Path) -> str | None:
    """Digest of one file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None
