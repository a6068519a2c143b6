"""The file from which another terminal reads how far a run or study has come."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.keeping.locked_directory import LOCK
from arena.keeping.provenance import RUN
from games.limited_files import parsed_json, read_bytes
from games.terminal import printable
from games.whole_files import NO_LINK, write_text

PROGRESS = "progress.json"
SECONDS = 1.0  # between two versions
SHARE = 0.01  # of the time may be spent on writing them
LARGEST = 1 << 16
MOST_LINES = 40


class ProgressFile:
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
        self.next = ended + max(SECONDS, (ended - begun) / SHARE)

    def remove(self) -> None:
        """Delete the file at the end of the run."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            self.broken = True


def stored_lines(directory: Path) -> list[str]:
    """The latest lines, printable; empty if there are none or they cannot be read."""
    try:
        stored = parsed_json(read_bytes(directory / PROGRESS, LARGEST))
    except (OSError, ValueError):
        return []
    lines = stored.get("lines") if isinstance(stored, dict) else None
    texts = lines if isinstance(lines, list) else []
    return [printable(line) for line in texts[:MOST_LINES] if isinstance(line, str)]


def is_running(directory: Path) -> bool:
    """Whether a process holds the directory's lock; the writer is not disturbed."""
    try:
        lock = os.open(directory / LOCK, os.O_RDONLY | os.O_CLOEXEC | NO_LINK)
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


def runs_below(results: Path) -> Iterator[Path]:
    """The directories of runs and studies, the latest first."""
    found = [path.parent for path in results.glob(f"*/*/{LOCK}")]
    yield from sorted(found, key=_touched, reverse=True)


def _touched(directory: Path) -> float:
    times = [0.0]
    for name in (RUN, PROGRESS, LOCK):
        try:
            times.append((directory / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)
