"""Differences between two runs in words: files, keys, sources, versions, machine."""

import difflib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from arena.storage.provenance import RUN, RunIdentity, plan_changes, read_run
from arena.storage.versions import LARGEST, kept_file
from games.base.errors import printable
from games.base.files import InputTooLarge, read_limited
from games.base.schema import KeyValues

TABLES = (
    "games.parquet",
    "elo.parquet",
    "win_rates.parquet",
    "points.parquet",
    "tournament.parquet",
)
MOST_CHANGES = 3
MOST_COMPARED = 200  # runs of one experiment


def explain_new_run(directory: Path, origin: RunIdentity) -> str | None:
    """Return why this run does not continue an earlier one; None if there is none.

    It is compared with the one that is most like it, for what differs from that is what was
    changed; among several such with the latest.
    """
    others = [each for each in directory.parent.glob("*") if each != directory and read_run(each)]
    if directory.exists() or not others:
        return None
    others.sort(key=lambda each: (each / RUN).stat().st_mtime, reverse=True)
    now = origin._asdict()
    found = [(list(deciding_changes(read_run(each), now)), each) for each in others[:MOST_COMPARED]]
    differing, nearest = min(found, key=lambda each: len(each[0]))
    reason = "; ".join(differing[:MOST_CHANGES]) or "pitflip itself changed"
    more = len(differing) - MOST_CHANGES
    reason += f"; and {more} more" if more > 0 else ""
    return f"a new run, {nearest.name} is kept: {reason}"


def deciding_changes(old: KeyValues, new: KeyValues) -> Iterator[str]:
    """Yield what makes two runs different: files first."""
    yield from file_changes(table(old, "files"), table(new, "files"))
    yield from plan_changes(old.get("plan", {}), new.get("plan", {}))
    if old.get("code") != new.get("code"):
        yield "pitflip itself changed"


def file_changes(old: KeyValues, new: KeyValues) -> Iterator[str]:
    """The files of the user's that are not the same in both."""
    for name in [*new, *(each for each in old if each not in new)]:
        if old.get(name) != new.get(name):
            word = "is new" if name not in old else "is gone" if name not in new else "changed"
            yield f"{printable(name)} {word}"


def run_differences(one: Path, other: Path) -> Iterator[str]:
    """Everything in which two stored runs differ, a line each; the lines of kept files, too."""
    old, new = read_run(one), read_run(other)
    yield from file_changes(table(old, "files"), table(new, "files"))
    yield from line_changes(one, other)
    yield from plan_changes(old.get("plan", {}), new.get("plan", {}))
    if old.get("code") != new.get("code"):
        yield f"pitflip itself was {old.get('code')}, is {new.get('code')}"
    for part in ("versions", "machine"):
        yield from plan_changes(table(old, part), table(new, part), part)
    yield from plan_changes(old.get("isolation"), new.get("isolation"), "isolation")
    yield from plan_changes(old.get("games"), new.get("games"), "games")
    yield from table_changes(one, other)


def table_changes(one: Path, other: Path) -> Iterator[str]:
    """The tables that are not byte for byte the same; clocks are no part of them."""
    for name in TABLES:
        digests = [table_digest(directory / name) for directory in (one, other)]
        if None not in digests and digests[0] != digests[1]:
            yield f"{name} differs"


def table_digest(path: Path) -> str | None:
    """The digest of a file's content; None if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError:
        return None


def line_changes(one: Path, other: Path) -> Iterator[str]:
    """The lines of each file that both runs kept a copy of."""
    stored, now = read_run(one), read_run(other)
    old, new = table(stored, "files"), table(now, "files")
    for name in new:
        if name in old and old[name] != new[name]:
            texts = kept_lines(one, stored, name), kept_lines(other, now, name)
            for line in difflib.unified_diff(*texts, lineterm="", n=1):
                if not line.startswith(("---", "+++")):
                    yield f"  {printable(line)}"


def kept_lines(directory: Path, stored: KeyValues, name: str) -> list[str]:
    """The lines of a user's file as a run kept it; none if it did not."""
    kept = kept_file(directory, stored, name)
    try:
        return [] if kept is None else read_limited(kept, LARGEST).decode().splitlines()
    except (OSError, InputTooLarge, UnicodeDecodeError):
        return []


def table(stored: KeyValues, name: str) -> KeyValues:
    """A table of run.json; empty if it is none."""
    found = stored.get(name)
    return found if isinstance(found, dict) else {}
