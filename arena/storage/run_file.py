"""Stored runs: the plan in run.json, the games, and differences to the present or another run."""

import contextlib
import difflib
import hashlib
import os
import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path

from arena.planning.plan import Plan, PlanError, resolve_path
from arena.storage.game_table import StoredGames, read_games
from arena.storage.parquet import TableError
from arena.storage.provenance import RUN, RunIdentity, code_digest, load_run_file, plan_changes
from arena.storage.versions import (
    MAX_BYTES,
    copy_digests,
    file_digest_or_none,
    find_copies,
    find_copy,
    has_copy,
    tree_digest,
)
from games.base.cli import shell_command
from games.base.errors import UserError, printable
from games.base.files import InputTooLarge, atomic_write, read_with_limit
from games.base.schema import KeyValues

GAMES = "games.parquet"
EXPERIMENT = "experiment.toml"  # the experiment file as it was played
CHECKSUMS = "SHA256SUMS"
# Files and directories of a run that change later. The journal repeats the tables, and opening it
# changes it.
WITHOUT_CHECKSUM = (
    CHECKSUMS, "journal.sqlite*", "lock", "run.log", "output.log", "progress.json", "*.part",
    "bot-reports", "cells", "export",
)  # fmt: skip
VALIDATION = "validation.parquet"  # written at the end of a study
TABLES = (GAMES, "elo.parquet", "win_rates.parquet", "points.parquet", "tournament.parquet")
MOST_CHANGES = 3
MOST_COMPARED = 200  # runs of one experiment


class NotARunError(UserError, ValueError):
    """The directory has no finished run; the message says why, and what to do instead."""


def load_plan(directory: Path, base: Path | None = None) -> Plan:
    """Return the plan of a run, with users' files relative to `base` or where they were.

    Files that have changed or are gone are replaced by the copies in the run's directory.
    """
    stored = load_run_file(directory)
    if not stored:
        there = (directory / RUN).exists()
        why = "its run.json cannot be read" if there else "it has no run.json"
        raise NotARunError(f"{directory} is not a run's directory: {why}")
    if instead := other_kind_message(directory, stored):
        raise NotARunError(instead)
    if "plan" not in stored:
        raise NotARunError(f"{directory / RUN} has no plan: another version of pitflip wrote it")
    try:
        base = _base(stored, base)
        copies = find_copies(directory, copy_digests(stored), base)
        return Plan.from_json(stored["plan"], base, copies)
    except PlanError as error:
        raise NotARunError(f"{directory / RUN} cannot be read: {error}") from None


def is_complete(directory: Path) -> bool:
    """Return whether a run or a study has come to its end."""
    return bool(load_run_file(directory).get("finished"))


def other_kind_message(directory: Path, stored: KeyValues) -> str:
    """Return what to do with the directory of a study, learning run or sweep; "" for a run.

    Their games are not in a table, so that they cannot be reported, exported or verified.
    """
    page = f"its page is {directory / 'report.html'}"
    if "tuned" in stored:
        command = command_of(stored, "tune")
        if not is_complete(directory):
            return f"{directory} is a study that is not finished: {command} continues it"
        return (
            f"{directory} is a study, which keeps no table of games: {page}, its tables are "
            f"trials.parquet and {VALIDATION}; {command} writes them again "
            "(--fresh: plays it again)"
        )
    if "learned" in stored:
        command = shell_command(str(stored.get("command") or "its command"))
        return (
            f"{directory} is a run of learning, which keeps no table of games: {page}, "
            f"its numbers are in learned.json; {command} continues it or prints them again"
        )
    if "sweep" in stored:
        return (
            f"{directory} is a sweep: its page is {directory / 'sweep.html'}, its table is "
            f"sweep.parquet; name one of its runs, {directory / 'cells'}/NUMBER/RUN"
        )
    return ""


def command_of(stored: KeyValues, verb: str) -> str:
    """Return the command that played a run or study, as far as run.json has it."""
    path = stored.get("path")
    if not isinstance(path, str):
        return "its command"
    changes = stored.get("overrides") or ()
    words = [word for change in changes for word in ("--set", str(change))]
    return shell_command(shlex.join(["pitflip", verb, path, *words]))


def games_table_path(directory: Path) -> Path:
    """Return the path of a run's games; NotARunError if there is none."""
    path = directory / GAMES
    if path.exists():
        return path
    stored = load_run_file(directory)
    if instead := other_kind_message(directory, stored):
        raise NotARunError(instead)
    command = command_of(stored, "run")
    raise NotARunError(
        f"{directory} has no {GAMES}: the run is not finished; {command} continues it"
    )


@contextlib.contextmanager
def open_games_table(directory: Path) -> Iterator[Path]:
    """Yield the path of a run's games; NotARunError if they cannot be read."""
    path = games_table_path(directory)
    try:
        yield path
    except TableError as error:
        raise NotARunError(f"{path} cannot be read: {error}") from None


def load_games(directory: Path) -> StoredGames:
    """Return the games of a run in `games.parquet`, in the columns that can be compared."""
    with open_games_table(directory) as path:
        return read_games(path)


def changes_since_run(directory: Path, base: Path | None = None) -> list[str]:
    """Return the files and sources that have changed since the run was played."""
    stored = load_run_file(directory)
    base, notes = _base(stored, base), []
    copies = find_copies(directory, copy_digests(stored), base)
    changed: dict[str, Path] = {}
    for name, old in _table(stored, "files").items():
        path = resolve_path(name, base).resolve()
        if (tree_digest(path) if path.is_dir() else file_digest_or_none(path)) != old:
            changed[name] = path
    for name, old in _table(stored, "sources").items():
        path = resolve_path(name, base).resolve()
        above = path if path.is_dir() else path.parent
        if tree_digest(path) != old and not any(p.is_relative_to(above) for p in changed.values()):
            changed[name] = path  # a file is new
    for name, path in changed.items():
        what = f"{printable(name)} {'has changed' if path.exists() else 'is gone'} since this run"
        is_replaced = has_copy(path, copies)
        notes.append(f"{what}: its kept copy was taken" if is_replaced else what)
    if stored.get("code") != code_digest():
        notes.append("pitflip has changed since this run")
    return notes


def _base(stored: KeyValues, base: Path | None) -> Path:
    return base or Path(str(stored.get("path", ""))).parent


def _table(stored: KeyValues, name: str) -> KeyValues:
    """Return a table of run.json; empty if it is none."""
    table = stored.get(name)
    return table if isinstance(table, dict) else {}


def write_checksums(directory: Path, written: Collection[str]) -> None:
    """Write SHA256SUMS of the files in a directory, as `sha256sum --check` reads it.

    `written` are the files, or directories of files, that the caller has written. Other files keep
    their stored sums, so that damage to them shows.
    """
    sums, files = read_checksums(directory) or {}, _files_with_checksum(directory)
    for name in {*sums, *files}:
        if name in files and (
            name not in sums or not {name, name.split("/")[0]}.isdisjoint(written)
        ):
            sums[name] = _sha256(files[name]) or ""
        elif name not in files and name in written:
            del sums[name]
    lines = (_checksum_line(name, sums[name]) for name in sorted(sums))
    with atomic_write(directory / CHECKSUMS) as file:
        file.write(os.fsencode("".join(lines)))


def renew_checksums(directory: Path, written: Collection[str]) -> None:
    """Write the sums of files that were added to a finished run or written again."""
    if (directory / CHECKSUMS).exists():
        write_checksums(directory, written)


def changed_files(directory: Path) -> list[str] | None:
    """Return the files that do not have their stored sum; None if no sums are stored."""
    sums = read_checksums(directory)
    if sums is None:
        return None
    return [name for name, digest in sums.items() if _sha256(directory / name) != digest]


def read_checksums(directory: Path) -> dict[str, str] | None:
    """Return the sums in SHA256SUMS by the paths of the files; None if there is no such file."""
    try:
        text = os.fsdecode(read_with_limit(directory / CHECKSUMS))
    except (OSError, InputTooLarge):
        return None
    found = {}
    for line in filter(None, text.split("\n")):
        digest, _, name = line.removeprefix("\\").partition("  ")
        if line.startswith("\\"):
            name = ESCAPED.sub(lambda each: UNESCAPED[each[0]], name)
        found[name] = digest
    return found


# A name with such a character is escaped, and its line begins with a backslash, as coreutils do.
UNESCAPED = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
ESCAPED = re.compile(r"\\[\\nr]")
TO_ESCAPE = re.compile(r"[\\\n\r]")


def _checksum_line(name: str, digest: str) -> str:
    escapes = {plain: escaped for escaped, plain in UNESCAPED.items()}
    escaped = TO_ESCAPE.sub(lambda each: escapes[each[0]], name)
    return f"{chr(92) if escaped != name else ''}{digest}  {escaped}\n"


def _files_with_checksum(directory: Path) -> dict[str, Path]:
    """Return the files that belong to a run, by their paths from its directory."""
    kept = (path for path in directory.iterdir() if not any(map(path.match, WITHOUT_CHECKSUM)))
    return {
        path.relative_to(directory).as_posix(): path
        for top in kept
        for path in (top, *top.rglob("*"))
        if path.is_file()
    }


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def explain_new_run(directory: Path, identity: RunIdentity) -> str | None:
    """Return why this run does not continue an earlier one; None if there is none.

    It is compared with the most similar run, because the differences from that one are the user's
    changes; among several such with the latest.
    """
    others = [
        each for each in directory.parent.glob("*") if each != directory and load_run_file(each)
    ]
    if directory.exists() or not others:
        return None
    others.sort(key=lambda each: (each / RUN).stat().st_mtime, reverse=True)
    new = identity._asdict()
    changes = [
        (list(_deciding_changes(load_run_file(each), new)), each) for each in others[:MOST_COMPARED]
    ]
    fewest, nearest = min(changes, key=lambda each: len(each[0]))
    reason = "; ".join(fewest[:MOST_CHANGES]) or "pitflip itself changed"
    more = len(fewest) - MOST_CHANGES
    reason += f"; and {more} more" if more > 0 else ""
    return f"a new run, {nearest.name} is kept: {reason}"


def _deciding_changes(old: KeyValues, new: KeyValues) -> Iterator[str]:
    """Yield what makes two runs different: files first."""
    yield from _file_changes(old, new)
    yield from plan_changes(old.get("plan", {}), new.get("plan", {}))
    if old.get("code") != new.get("code"):
        yield "pitflip itself changed"


def _file_changes(old: KeyValues, new: KeyValues) -> Iterator[str]:
    """Yield the users' files that are not the same in both runs."""
    before, after = _table(old, "files"), _table(new, "files")
    for name in [*after, *(each for each in before if each not in after)]:
        if before.get(name) != after.get(name):
            how = "is new" if name not in before else "is gone" if name not in after else "changed"
            yield f"{printable(name)} {how}"


def run_differences(one: Path, other: Path) -> Iterator[str]:
    """Yield everything in which two stored runs differ, with the changed lines of copied files."""
    old, new = load_run_file(one), load_run_file(other)
    yield from _file_changes(old, new)
    yield from _line_changes(one, old, other, new)
    yield from plan_changes(old.get("plan", {}), new.get("plan", {}))
    if old.get("code") != new.get("code"):
        yield f"pitflip itself was {old.get('code')}, is {new.get('code')}"
    for part in ("versions", "machine"):
        yield from plan_changes(_table(old, part), _table(new, part), part)
    for name in ("isolation", "games"):
        yield from plan_changes(old.get(name), new.get(name), name)
    for name in TABLES:
        digests = [_file_digest(directory / name) for directory in (one, other)]
        if None not in digests and digests[0] != digests[1]:
            yield f"{name} differs"


def _file_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError:
        return None


def _line_changes(one: Path, old: KeyValues, other: Path, new: KeyValues) -> Iterator[str]:
    """Yield the changed lines of each file that both runs have a copy of."""
    before, after = _table(old, "files"), _table(new, "files")
    for name in after:
        if name in before and before[name] != after[name]:
            texts = _copy_lines(one, old, name), _copy_lines(other, new, name)
            for line in difflib.unified_diff(*texts, lineterm="", n=1):
                if not line.startswith(("---", "+++")):
                    yield f"  {printable(line)}"


def _copy_lines(directory: Path, stored: KeyValues, name: str) -> list[str]:
    """Return the lines of a run's copy of a user's file; empty if there is none."""
    copy = find_copy(directory, stored, name)
    try:
        return [] if copy is None else read_with_limit(copy, MAX_BYTES).decode().splitlines()
    except (OSError, InputTooLarge, UnicodeDecodeError):
        return []
