"""Runs that lie in a results directory, and how some are deleted: runs, and nothing else."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.keeping.journal import JOURNAL
from arena.keeping.locked_directory import LOCK
from arena.keeping.progress_file import is_running
from arena.keeping.provenance import RUN, read_run
from arena.keeping.run_directory import is_finished

NAME = re.compile(r"(?:tune-|sweep-)?[0-9a-f]{10}(?:\.old-\d+)?")
ENDINGS = (".parquet", ".json", ".html", ".svg", ".png", ".log", ".toml", ".npz", ".part", ".db")
STUDY = "tune-"
OURS = (LOCK, JOURNAL, "sources", "bots", "handouts", "cells")
INNER = re.compile(r"(?:validation|claim)-\d+")
LAST = (RUN, JOURNAL)  # by these it is known as a run, so that a pruning that is killed goes on


class StoredRunInfo(NamedTuple):
    """A run or study in a results directory."""

    directory: Path
    begun: str
    state: str  # finished, stopped or running
    games: int | None
    size: int  # bytes

    @property
    def name(self) -> str:
        """What people call it: experiment and run."""
        return f"{self.directory.parent.name}/{self.directory.name}"


def is_a_run(directory: Path) -> bool:
    """Whether this is the directory of a run of ours, by its name and by what is in it."""
    if directory.is_symlink() or directory.parent.is_symlink() or not directory.is_dir():
        return False
    named = NAME.fullmatch(directory.name) is not None
    return named and any(
        (directory / each).is_file() and not (directory / each).is_symlink() for each in LAST
    )


def stored_runs(results: Path) -> Iterator[StoredRunInfo]:
    """All runs and studies below a results directory, the latest of each experiment first."""
    for parent in sorted(results.glob("*")):
        if parent.is_symlink() or not parent.is_dir():
            continue
        runs = [info_of(each) for each in parent.iterdir() if is_a_run(each)]
        yield from sorted(runs, key=lambda each: (each.begun, each.name), reverse=True)


def info_of(directory: Path) -> StoredRunInfo:
    """What is known of a run without opening its tables."""
    stored = read_run(directory)
    ended = "finished" if is_finished(directory) else "stopped"
    state = "running" if is_running(directory) else ended
    games = stored.get("games")
    sizes = [path.lstat().st_size for path in directory.rglob("*")]
    begun = str(stored.get("begun") or "")
    return StoredRunInfo(
        directory, begun, state, games if isinstance(games, int) else None, sum(sizes)
    )


def foreign(directory: Path) -> list[str]:
    """What lies in a run's directory and is not ours: somebody may miss it."""
    return sorted(each.name for each in directory.iterdir() if not is_ours(each))


def is_ours(path: Path) -> bool:
    """Whether a run or a study writes a file or a directory of this name."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name in OURS or INNER.fullmatch(path.name) is not None
    return path.name in OURS or path.name.startswith(JOURNAL) or path.suffix in ENDINGS


def delete_run(directory: Path) -> None:
    """Delete a run; no link is followed, and what makes it one goes last."""
    if not is_a_run(directory):
        return
    for path in sorted(directory.iterdir(), key=lambda each: each.name in LAST):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    directory.rmdir()
    with contextlib.suppress(OSError):
        directory.parent.rmdir()  # only if nothing is left in it
