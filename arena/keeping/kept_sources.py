"""The users' own files that a run keeps, by content, for the day when the originals are gone."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

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
        if kept is None or kept.exists():
            continue
        try:
            content, program = read_bytes(path, LARGEST), os.access(path, os.X_OK)
        except (TooMuch, OSError):
            continue
        inner_directory(kept.parent.parent)
        inner_directory(kept.parent)
        with whole_file(kept) as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o755 if program else 0o644)
        if file_digest(kept) != origin.files[name]:
            kept.unlink()  # it was edited at this very moment


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
    found: dict[Path, Path] = {}
    for name, digest in files.items():
        original, kept = path_in_plan(name, base).resolve(), place_of(directory, name, digest)
        if kept is None or digest_now(original) == digest:
            continue
        if digest_now(kept) == digest:
            found[original] = kept.resolve()
    return found


def digest_now(path: Path) -> str | None:
    """Digest of a file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None
