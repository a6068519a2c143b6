"""The results directory."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.storage.journal import JOURNAL, LOCK_FILE
from arena.storage.provenance import RUN, read_run
from arena.storage.run_file import is_finished
from games.base.errors import printable
from games.base.files import NO_LINK, parse_json, read_limited, write_text

PROGRESS = "progress.json"
SECONDS = 1.0  # between two versions
MAX_TIME_SHARE = 0.01  # of the time may be spent on writing them
LARGEST = 1 << 16
MOST_LINES = 40
NAME = re.compile(r"(?:tune-|sweep-|learn-)?[0-9a-f]{10}(?:\.old-\d+)?")
ENDINGS = (".parquet", ".json", ".html", ".svg", ".png", ".log", ".toml", ".npz", ".part", ".db")
OWN_FILES = (LOCK_FILE, JOURNAL, "sources", "bots", "handouts", "cells")
INNER = re.compile(r"(?:validation|speed|terms|pool|round|match)-[0-9a-f]+")
IDENTIFYING_FILES = (
    RUN,
    JOURNAL,
)  # by these it is known as a run, so that a pruning that is killed goes on


class ProgressFileSink:
    """Writes the latest lines into a run's directory, not too often."""

    def __init__(self, directory: Path) -> None:
        """Nothing is written in the first second: short runs leave none."""
        self.path = directory / PROGRESS
        self.next = time.monotonic() + SECONDS
        self.broken = False

    @property
    def due(self) -> bool:
        """Whether it is time for a new version."""
        return not self.broken and time.monotonic() >= self.next

    def write(self, lines: Sequence[str]) -> None:
        """Write a version; a full disk is the journal's to report."""
        begun = time.monotonic()
        try:
            write_text(self.path, json.dumps({"lines": list(lines)}) + "\n")
        except OSError:
            self.broken = True
        ended = time.monotonic()
        self.next = ended + max(SECONDS, (ended - begun) / MAX_TIME_SHARE)

    def remove(self) -> None:
        """Delete the file at the end of the run."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            self.broken = True


def read_progress(directory: Path) -> list[str]:
    """The latest lines, printable; empty if there are none or they cannot be read."""
    try:
        stored = parse_json(read_limited(directory / PROGRESS, LARGEST))
    except (OSError, ValueError):
        return []
    lines = stored.get("lines") if isinstance(stored, dict) else None
    texts = lines if isinstance(lines, list) else []
    return [printable(line) for line in texts[:MOST_LINES] if isinstance(line, str)]


def is_running(directory: Path) -> bool:
    """Whether a process holds the directory's lock; the writer is not disturbed."""
    try:
        lock = os.open(directory / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC | NO_LINK)
    except OSError:
        return False
    try:
        # For an instant only: a run that begins now tries for longer than this.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def list_run_directories(results: Path) -> Iterator[Path]:
    """The directories of runs and studies, the latest first."""
    found = [path.parent for path in results.glob(f"*/*/{LOCK_FILE}")]
    yield from sorted(found, key=_touched, reverse=True)


def _touched(directory: Path) -> float:
    times = [0.0]
    for name in (RUN, PROGRESS, LOCK_FILE):
        try:
            times.append((directory / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)


class RunInfo(NamedTuple):
    """A run or study in a results directory."""

    directory: Path
    begun: str
    state: str  # finished, stopped, failed or running
    games: int | None
    size: int  # bytes
    reason: str = ""  # why it failed

    @property
    def name(self) -> str:
        """What people call it: experiment and run."""
        return f"{self.directory.parent.name}/{self.directory.name}"


def is_run_directory(directory: Path) -> bool:
    """Whether this is the directory of a run of ours, by its name and by what is in it."""
    if directory.is_symlink() or directory.parent.is_symlink() or not directory.is_dir():
        return False
    named = NAME.fullmatch(directory.name) is not None
    return named and any(
        (directory / each).is_file() and not (directory / each).is_symlink()
        for each in IDENTIFYING_FILES
    )


def stored_runs(results: Path) -> Iterator[RunInfo]:
    """All runs and studies below a results directory, the latest of each experiment first."""
    for parent in sorted(results.glob("*")):
        if parent.is_symlink() or not parent.is_dir():
            continue
        runs = [run_info(each) for each in parent.iterdir() if is_run_directory(each)]
        yield from sorted(runs, key=lambda each: (each.begun, each.name), reverse=True)


def run_info(directory: Path) -> RunInfo:
    """What is known of a run without opening its tables."""
    stored = read_run(directory)
    reason = str(stored.get("failed") or "")
    ended = "finished" if is_finished(directory) else "failed" if reason else "stopped"
    state = "running" if is_running(directory) else ended
    games = stored.get("games")
    sizes = [path.lstat().st_size for path in directory.rglob("*")]
    begun = str(stored.get("begun") or "")
    return RunInfo(
        directory,
        begun,
        state,
        games if isinstance(games, int) else None,
        sum(sizes),
        reason,
    )


def foreign_files(directory: Path) -> list[str]:
    """What lies in a run's directory and is not ours: somebody may miss it."""
    return sorted(each.name for each in directory.iterdir() if not is_own_file(each))


def is_own_file(path: Path) -> bool:
    """Whether a run or a study writes a file or a directory of this name."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name in OWN_FILES or INNER.fullmatch(path.name) is not None
    return path.name in OWN_FILES or path.name.startswith(JOURNAL) or path.suffix in ENDINGS


def delete_run(directory: Path) -> None:
    """Delete a run; no link is followed, and what makes it one goes last."""
    if not is_run_directory(directory):
        return
    for path in sorted(directory.iterdir(), key=lambda each: each.name in IDENTIFYING_FILES):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    directory.rmdir()
    with contextlib.suppress(OSError):
        directory.parent.rmdir()  # only if nothing is left in it
