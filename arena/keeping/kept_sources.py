"""The users' own files that a run keeps, by content, for the day when the originals are gone."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from agents.imported_files import imported_files
from arena.keeping.provenance import Origin, file_digest
from arena.planning.file_names import name_in_plan, path_in_plan
from arena.planning.plan import Plan
from games.limited_files import TooMuch, read_bytes
from games.whole_files import inner_directory, whole_file

SOURCES = "sources"
LARGEST = 4 << 20  # bytes of one file: sources are small, engines are not kept
DIGEST = re.compile(r"[0-9a-f]{16}")


def keep_sources(directory: Path, plan: Plan, origin: Origin) -> None:
    """Keep a copy of every small file of a user's that decides games, under its own name."""
    for path in dict.fromkeys(plan.files()):
        name = name_in_plan(path, plan.base)
        kept = place_of(directory, name, origin.files.get(name, ""))
        if kept is None or kept.exists() or not _copied(path, kept):
            continue
        for beside in imported_files(path):
            _copied(beside, kept.with_name(beside.name))  # where the copy looks for it
        if file_digest(kept) != origin.files[name]:
            kept.unlink()  # it was edited at this very moment


def _copied(path: Path, kept: Path) -> bool:
    """Copy a file unless it is too large; whether it was."""
    try:
        content, program = read_bytes(path, LARGEST), os.access(path, os.X_OK)
    except (TooMuch, OSError):
        return False
    inner_directory(kept.parent.parent)
    inner_directory(kept.parent)
    with whole_file(kept) as file:
        file.write(content)
        os.fchmod(file.fileno(), 0o755 if program else 0o644)
    return True


def place_of(directory: Path, name: str, digest: object) -> Path | None:
    """Where the file of this name and digest is kept; None if these cannot be ours."""
    last = Path(name).name
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or last in ("", ".", ".."):
        return None
    return directory / SOURCES / digest / last


def replaced(directory: Path, files: Mapping[str, object], base: Path) -> dict[Path, Path]:
    """The files that are no longer as they were played -> their kept copies, where there are any.

    `files` are the digests of run.json, by paths seen from `base`.
    """
    places = {path_in_plan(name, base).resolve(): (name, digest) for name, digest in files.items()}
    # Files that import one another lie in one directory: there all are taken, or none.
    changed = {path.parent for path, (_, digest) in places.items() if digest_now(path) != digest}
    found: dict[Path, Path] = {}
    for path, (name, digest) in places.items():
        kept = place_of(directory, name, digest)
        if path.parent in changed and kept is not None and digest_now(kept) == digest:
            found[path] = kept.resolve()
    return found


def digest_now(path: Path) -> str | None:
    """Digest of a file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None
