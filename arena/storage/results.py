"""The runs and studies in a results directory: list, describe and delete them."""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.storage.journal import JOURNAL, LOCK_FILE
from arena.storage.provenance import RUN, load_run_file
from arena.storage.run_file import is_complete
from games.base.errors import printable
from games.base.files import NO_LINK, parse_json, read_with_limit

PROGRESS = "progress.json"
MAX_BYTES = 1 << 16  # of progress.json
MOST_LINES = 40
NAME = re.compile(r"(?:tune-|sweep-|learn-)?[0-9a-f]{10}(?:\.old-\d+)?")
ENDINGS = (".parquet", ".json", ".html", ".svg", ".png", ".log", ".toml", ".npz", ".part", ".db")
OWN_FILES = (LOCK_FILE, JOURNAL, "sources", "bots", "bot-reports", "cells")
# They identify a run. A deletion removes them last, so that it can continue after a kill.
IDENTIFYING_FILES = (RUN, JOURNAL)


def progress_lines(directory: Path) -> list[str]:
    """Return the latest lines of a run, printable; empty if they cannot be read."""
    try:
        stored = parse_json(read_with_limit(directory / PROGRESS, MAX_BYTES))
    except (OSError, ValueError):
        return []
    lines = stored.get("lines") if isinstance(stored, dict) else None
    texts = lines if isinstance(lines, list) else []
    return [printable(line) for line in texts[:MOST_LINES] if isinstance(line, str)]


def is_running(directory: Path) -> bool:
    """Return whether a process holds the directory's lock, without disturbing it."""
    try:
        lock = os.open(directory / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | NO_LINK)
    except OSError:
        return False
    try:
        # It is held only for a moment: a run that begins now tries for longer than this.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


class RunInfo(NamedTuple):
    """A run or study in a results directory."""

    directory: Path
    begun: str
    state: str  # finished, stopped, failed or running
    games: int | None
    size: int  # bytes
    reason: str = ""  # why it failed, or how its stop rule ended it

    @property
    def name(self) -> str:
        """The experiment and the run."""
        return f"{self.directory.parent.name}/{self.directory.name}"


def is_run_directory(directory: Path) -> bool:
    """Return whether this is the directory of a run, by its name and its files."""
    if directory.is_symlink() or directory.parent.is_symlink() or not directory.is_dir():
        return False
    files = [directory / each for each in IDENTIFYING_FILES]
    return NAME.fullmatch(directory.name) is not None and any(
        path.is_file() and not path.is_symlink() for path in files
    )


def iter_runs(results: Path) -> Iterator[RunInfo]:
    """Yield all runs and studies in a results directory, the latest of each experiment first."""
    for parent in sorted(results.glob("*")):
        if parent.is_symlink() or not parent.is_dir():
            continue
        runs = [run_info(each) for each in parent.iterdir() if is_run_directory(each)]
        yield from sorted(runs, key=lambda each: (each.begun, each.name), reverse=True)


def run_info(directory: Path) -> RunInfo:
    """Return the facts of a run without opening its tables."""
    stored = load_run_file(directory)
    reason, games = str(stored.get("failed") or stored.get("stopped") or ""), stored.get("games")
    ended = "finished" if is_complete(directory) else "failed" if reason else "stopped"
    return RunInfo(
        directory,
        str(stored.get("begun") or ""),
        "running" if is_running(directory) else ended,
        games if isinstance(games, int) else None,
        sum(path.lstat().st_size for path in directory.rglob("*")),
        reason,
    )


def foreign_files(directory: Path) -> list[str]:
    """Return the files in a run's directory that are not ours: a user may need them."""
    return sorted(each.name for each in directory.iterdir() if not is_own_file(each))


def is_own_file(path: Path) -> bool:
    """Return whether a run or a study writes a file or a directory of this name."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name in OWN_FILES
    return path.name in OWN_FILES or path.name.startswith(JOURNAL) or path.suffix in ENDINGS


def delete_run(directory: Path) -> None:
    """Delete a run without following links; the files that identify it go last."""
    if not is_run_directory(directory):
        return
    for path in sorted(directory.iterdir(), key=lambda each: each.name in IDENTIFYING_FILES):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    directory.rmdir()
    with contextlib.suppress(OSError):
        directory.parent.rmdir()  # only if it is empty
