"""A run's directory: the journal that is the truth while it runs, and the lock that guards it."""

import contextlib
import errno
import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from arena.keeping.game_blobs import Damaged, decoded
from arena.planning.pairings import Pairings
from arena.planning.records import Games

JOURNAL = "journal.sqlite"
LOCK = "lock"
CHECKPOINT_PAGES = 16_384  # 64 MiB: batches of a fast run are large, and moving them costs time
BUSY_SECONDS = 5.0
LOCK_SECONDS = 1.0


class JournalError(Exception):
    """The directory cannot be used; one line that says why and what to do."""


class Journal:
    """The journal of one run, open for one process."""

    def __init__(self, directory: Path, digest: str, fresh: bool = False) -> None:
        """Open or begin the run of this `digest`; `fresh` renames an earlier one out of the way.

        A StoreError says what stands in the way.
        """
        self.directory = directory
        self._lock = locked(directory)
        if fresh and (directory / JOURNAL).exists():
            set_aside(directory)
            os.close(self._lock)
            self._lock = locked(directory)
        try:
            with self._told():
                self._open(digest)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, digest: str) -> None:
        self._base = sqlite3.connect(
            self.directory / JOURNAL, timeout=BUSY_SECONDS, isolation_level=None
        )
        try:
            self._begin(digest)
        except BaseException:
            self._base.close()
            raise

    def _begin(self, digest: str) -> None:
        self._base.execute("pragma journal_mode=wal")
        self._base.execute("pragma synchronous=normal")
        self._base.execute(f"pragma wal_autocheckpoint={CHECKPOINT_PAGES}")
        self._base.execute(
            "create table if not exists batches "
            "(start integer primary key, stop integer not null, games blob not null) strict"
        )
        self._base.execute(
            "create table if not exists run (digest text not null, fixed text) strict"
        )
        self._base.execute(
            "create table if not exists tried "
            "(pairing integer primary key, seen text not null) strict"
        )
        found = self._base.execute("select digest from run").fetchone()
        if found is None:
            self._base.execute("insert into run values (?, null)", (digest,))
        elif found[0] != digest:
            raise JournalError(f"{self.directory}: its journal belongs to another experiment")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """A full disk or a broken file as one line; nothing that was written is lost."""
        journal = self.directory / JOURNAL
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise JournalError(
                f"{journal}: cannot be used ({error}); what was finished is kept, "
                "the same command goes on"
            ) from None
        except (sqlite3.Error, Damaged) as error:
            raise JournalError(
                f"{journal}: is damaged ({error}); --fresh sets this run aside and plays it anew"
            ) from None

    def __enter__(self) -> "Journal":
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the journal and give the lock back."""
        self._base.close()
        os.close(self._lock)

    def append(self, start: int, stop: int, games: bytes) -> None:
        """Keep the packed games of pairings `start` to `stop` - 1; safe when this returns."""
        with self._told():
            self._base.execute(
                "insert or ignore into batches values (?, ?, ?)", (start, stop, games)
            )

    def fixed(self) -> frozenset[tuple[int, int]] | None:
        """The matches that were found to have one game an opening; None before that is kept."""
        with self._told():
            found = self._base.execute("select fixed from run").fetchone()[0]
        return None if found is None else frozenset((a, b) for a, b in json.loads(found))

    def keep_fixed(self, fixed: frozenset[tuple[int, int]]) -> None:
        """Keep what was found out, so that whoever goes on need not, and cannot differ."""
        with self._told():
            self._base.execute("update run set fixed = ?", (json.dumps(sorted(fixed)),))

    def tried(self) -> dict[int, tuple[int, ...]]:
        """What pairings that were played only to find that out have shown, by their numbers."""
        with self._told():
            rows = self._base.execute("select pairing, seen from tried").fetchall()
        return {pairing: tuple(json.loads(seen)) for pairing, seen in rows}

    def keep_tried(self, pairing: int, seen: tuple[int, ...]) -> None:
        """Keep what one of them has shown."""
        with self._told():
            self._base.execute(
                "insert or ignore into tried values (?, ?)", (pairing, json.dumps(seen))
            )

    def finished(self) -> int:
        """How many pairings are finished, from the first on: batches are kept in order."""
        with self._told():
            rows = self._base.execute("select start, stop from batches order by start")
            reached = 0
            for start, stop in rows:
                if start != reached:
                    break
                reached = stop
            return reached

    def _blobs(self) -> Iterator[tuple[int, int, bytes]]:
        return iter(self._base.execute("select start, stop, games from batches order by start"))

    def parts(self, schedule: Pairings) -> Iterator[tuple[int, int, Games]]:
        """The pairings and games of each batch, in schedule order."""
        with self._told():
            for start, stop, blob in self._blobs():
                yield start, stop, decoded([blob], schedule.columns(start, stop))

    def games(self, schedule: Pairings) -> Games:
        """All games so far."""
        placed = schedule.columns(0, self.finished())
        with self._told():
            return decoded((blob for _, _, blob in self._blobs()), placed)


def locked(directory: Path) -> int:
    """The directory's lock, held until it is closed; a StoreError if another run holds it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise JournalError(
            f"{directory}: results cannot be written here ({error.strerror}); "
            "choose another place with --results DIR"
        ) from None
    # Workers of a run that was killed may hold it for a moment longer.
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError as error:
            if time.monotonic() > until or error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                os.close(lock)
                raise JournalError(
                    f"{directory}: another run is writing here; wait for it, or use --results DIR"
                ) from None
            time.sleep(0.05)


def set_aside(directory: Path) -> Path:
    """Rename a run out of the way, and where to: nothing is deleted."""
    number = 1
    while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
        number += 1
    try:
        return directory.rename(aside)
    except OSError as error:
        raise JournalError(f"{directory}: cannot be set aside ({error.strerror})") from None
