"""A run's directory: the journal that is the truth while it runs, and the lock that guards it."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from arena.records import Games, decoded, joined

JOURNAL = "journal.sqlite"


class StoreError(Exception):
    """The directory cannot be used; one line that says why and what to do."""


class Store:
    """The journal of one run, open for one process."""

    def __init__(self, directory: Path, digest: str) -> None:
        """Open or begin the run of this `digest`; a StoreError says what stands in the way."""
        self.directory = directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR)
        except OSError as error:
            raise StoreError(
                f"{directory}: results cannot be written here ({error.strerror}); "
                "choose another place with --results DIR"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise StoreError(
                f"{directory}: another run is writing here; wait for it, or use --results DIR"
            ) from None
        with self._told():
            self._open(digest)

    def _open(self, digest: str) -> None:
        self._base = sqlite3.connect(self.directory / JOURNAL, isolation_level=None)
        self._base.execute("pragma journal_mode=wal")
        self._base.execute("pragma synchronous=normal")
        self._base.execute(
            "create table if not exists batches "
            "(start integer primary key, stop integer not null, games blob not null) strict"
        )
        self._base.execute("create table if not exists run (digest text not null) strict")
        found = self._base.execute("select digest from run").fetchone()
        if found is None:
            self._base.execute("insert into run values (?)", (digest,))
        elif found[0] != digest:
            raise StoreError(f"{self.directory}: its journal belongs to another experiment")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """A full disk or a broken file as one line; nothing that was written is lost."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.directory}: the journal cannot be used ({error}); what was finished is "
                "kept, the same command goes on"
            ) from None

    def __enter__(self) -> "Store":
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

    def parts(self) -> Iterator[tuple[int, int, Games]]:
        """The pairings and games of each batch, in schedule order."""
        with self._told():
            rows = self._base.execute("select start, stop, games from batches order by start")
            for start, stop, blob in rows:
                yield start, stop, decoded(blob)

    def games(self) -> Games:
        """All games so far."""
        return joined([games for _, _, games in self.parts()])
