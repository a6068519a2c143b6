"""The locked directory of a run and its journal: one SQLite file of named sections."""

import contextlib
import errno
import fcntl
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.planning.games import CorruptDataError, GameColumn, Games, decode_games
from games.base.errors import Unfinished
from games.base.files import LINK_REFUSAL, NO_LINK, is_special_file

LOCK_FILE = "lock"
LOCK_SECONDS = 1.0
SCHEMA = (
    "create table if not exists run (digest text not null) strict",
    "create table if not exists sections "
    "(name text primary key, key text not null, checksum integer not null) strict",
    "create table if not exists section_batches (section text not null, start integer not null, "
    "stop integer not null, content blob not null, note text not null, checksum integer not null, "
    "primary key (section, start)) strict",
    "create table if not exists section_facts (section text not null, name text not null, "
    "content text not null, checksum integer not null, primary key (section, name)) strict",
)
JOURNAL = "journal.sqlite"
LOG = "run.log"
# 64 MiB: the batches of a fast run are large, and copying them takes time
CHECKPOINT_PAGES = 16_384
BUSY_SECONDS = 5.0
# The columns of the schedule for some pairs, from one to before another.
ScheduleColumns = Callable[[int, int], dict[str, GameColumn]]


class DirectoryError(Unfinished):
    """The directory cannot be used; one line says why and what to do."""


def lock_directory(directory: Path) -> int:
    """The directory's lock, held until it is closed; a DirectoryError if another run holds it."""
    try:
        str(directory).encode()
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | NO_LINK)
    except (OSError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", "its name is not UTF-8")
        where = f"{directory}: results cannot be written here ({why})"
        raise DirectoryError(f"{where}; choose another place with --results DIR") from None
    # The workers of a killed run may hold it for a moment longer.
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError as error:
            if time.monotonic() > until or error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                os.close(lock)
                raise DirectoryError(
                    f"{directory}: another run is writing here; wait for it, or use --results DIR"
                ) from None
            time.sleep(0.05)


class StoredBatch(NamedTuple):
    """Items `start` to `stop` - 1 of a section: pairs of a match, a trial, lines of a run."""

    start: int
    stop: int
    content: bytes
    note: str  # JSON: whatever else is known, such as the weights of a trial


class RunDirectory:
    """The locked directory of one run or study, with its journal: one SQLite file of sections."""

    def __init__(self, path: Path, digest: str, fresh: bool | None = False) -> None:
        """Open or begin the run of this `digest`; `fresh` sets an earlier one aside.

        None: the command has no --fresh. DirectoryError says why it cannot be opened.
        """
        self.path, self.digest = path, digest
        self.way_out = "move it away" if fresh is None else "--fresh sets this run aside"
        refuse_links(path)
        self._lock = lock_directory(path)
        if fresh and (path / JOURNAL).exists():
            set_aside(path)
            os.close(self._lock)
            self._lock = lock_directory(path)
        try:
            with self.translate_errors():
                self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self) -> None:
        self.base = open_database(self.path / JOURNAL, SCHEMA, busy_seconds=BUSY_SECONDS)
        try:
            self.base.execute(f"pragma wal_autocheckpoint={CHECKPOINT_PAGES}")
            stored = self.base.execute("select digest from run").fetchone()
            if stored is None:
                self.base.execute("insert into run (digest) values (?)", (self.digest,))
            elif stored[0] != self.digest:
                raise CorruptDataError("it belongs to another experiment")
            (fault,) = self.base.execute("pragma integrity_check(1)").fetchone()
            if fault != "ok":
                raise CorruptDataError(" ".join(fault.split()))
            for name, key, checksum in self.base.execute("select * from sections").fetchall():
                Section(self, name, key).check(checksum)
        except BaseException:
            self.base.close()
            raise

    def __enter__(self) -> "RunDirectory":
        return self

    def __exit__(self, *_: object) -> None:
        """Close the journal and release the lock."""
        self.base.close()
        os.close(self._lock)

    def section(self, name: str = "games", key: str = "") -> "Section":
        """Return a section of the journal; one that was written under another key is emptied."""
        section, query = Section(self, name, key), "select key from sections where name = ?"
        with self.translate_errors():
            if self.base.execute(query, (name,)).fetchone() != (key,):
                self.base.execute("begin immediate")
                with self.base:
                    self.base.execute("delete from section_batches where section = ?", (name,))
                    self.base.execute("delete from section_facts where section = ?", (name,))
                    row = name, key, section.checksum()
                    self.base.execute("insert or replace into sections values (?, ?, ?)", row)
        return section

    @contextlib.contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Report a full disk or a damaged file in one line; nothing that was written is lost."""
        journal = self.path / JOURNAL
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise DirectoryError(
                f"{journal}: cannot be used ({error}); what was finished is kept, "
                "the same command continues"
            ) from None
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:  # whatever is in it
            raise DirectoryError(
                f"{journal}: is damaged ({error}); {self.way_out} to start over"
            ) from None


class Section:
    """A named part of a journal: numbered batches without gaps, and facts."""

    def __init__(self, run: RunDirectory, name: str, key: str) -> None:
        """`RunDirectory.section` makes sections."""
        self.run, self.name, self.key = run, name, key
        self.directory, self.base = run.path, run.base

    def append(self, start: int, stop: int, content: bytes, note: str = "") -> None:
        """Store a batch, safely once this returns; to store it twice changes nothing."""
        checksum = self.checksum(start, stop, note, content=content)
        with self.run.translate_errors():
            self.base.execute(
                "insert or ignore into section_batches values (?, ?, ?, ?, ?, ?)",
                (self.name, start, stop, content, note, checksum),
            )

    def finished(self) -> int:
        """Return how many items are finished, counted from the first one without a gap."""
        query = "select start, stop from section_batches where section = ? order by start"
        with self.run.translate_errors():
            reached = 0
            for start, stop in self.base.execute(query, (self.name,)):
                if start != reached:
                    break
                reached = stop
            return reached

    def batches(self) -> Iterator[StoredBatch]:
        """Yield the batches in order, up to the first gap."""
        with self.run.translate_errors():
            reached = 0
            for batch in self._stored():
                if batch.start != reached:
                    return
                reached = batch.stop
                yield batch

    def games(self, columns: ScheduleColumns) -> Iterator[tuple[int, int, Games]]:
        """Yield the pairs and games of each batch, in schedule order.

        Batches are read one by one: the `columns` of one may follow from those before it.
        """
        with self.run.translate_errors():
            for batch in self.batches():
                placed = columns(batch.start, batch.stop)
                yield batch.start, batch.stop, decode_games([batch.content], placed)

    def read_fact(self, name: str) -> Any:
        """Return a fact, as JSON reads it; None if it is not known."""
        query = "select content, checksum from section_facts where section = ? and name = ?"
        with self.run.translate_errors():
            row = self.base.execute(query, (self.name, name)).fetchone()
            return None if row is None else self._checked_fact(name, *row)

    def write_fact(self, name: str, value: object) -> None:
        """Store a fact, in place of an earlier one of this name."""
        with self.run.translate_errors():
            self._write_fact(name, value)

    def forget(self, start: int, name: str, value: object) -> None:
        """Remove the batches from item `start` on and store a fact, or neither."""
        with self.run.translate_errors():
            self.base.execute("begin immediate")
            with self.base:
                query = "delete from section_batches where section = ? and stop > ?"
                self.base.execute(query, (self.name, start))
                self._write_fact(name, value)

    def check(self, checksum: int) -> None:
        """Raise CorruptDataError unless everything is as it was written.

        Batches after a gap are removed: they would conflict with those that are played now.
        """
        if checksum != self.checksum():
            raise CorruptDataError(f"its section {self.name!a} is not what was written there")
        query = "select name, content, checksum from section_facts where section = ?"
        for row in self.base.execute(query, (self.name,)).fetchall():
            self._checked_fact(*row)
        reached, loose = 0, list[tuple[str, int]]()
        for batch in self._stored():
            if batch.start == reached:
                reached = batch.stop
            else:
                loose.append((self.name, batch.start))
        self.base.executemany("delete from section_batches where section = ? and start = ?", loose)

    def _stored(self) -> Iterator[StoredBatch]:
        rows = self.base.execute(
            "select start, stop, content, note, checksum from section_batches where section = ? "
            "order by start",
            (self.name,),
        )
        for start, stop, content, note, checksum in rows:
            if checksum != self.checksum(start, stop, note, content=content):
                raise CorruptDataError(f"its batch {start} to {stop} is not what was written there")
            yield StoredBatch(start, stop, content, note)

    def _write_fact(self, name: str, value: object) -> None:
        content = json.dumps(value)
        row = (self.name, name, content, self.checksum(name, content))
        self.base.execute("insert or replace into section_facts values (?, ?, ?, ?)", row)

    def _checked_fact(self, name: str, content: str, checksum: int) -> Any:
        if checksum != self.checksum(name, content):
            raise CorruptDataError(f"its {name!a} is not what was written there")
        return json.loads(content)

    def checksum(self, *head: object, content: bytes = b"") -> int:
        """The checksum of a batch or fact in its place: in another place it is damage."""
        place = json.dumps([self.run.digest, self.name, self.key, *head]).encode()
        return zlib.crc32(content, zlib.crc32(place))


def open_database(path: Path, schema: Sequence[str], *, busy_seconds: float) -> sqlite3.Connection:
    """Open an SQLite file, to which several processes may write, and create its tables."""
    base = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        base.execute("pragma synchronous=normal")
        base.execute("pragma journal_mode=wal")
        for statement in schema:
            base.execute(statement)
    except BaseException:
        base.close()
        raise
    return base


def refuse_links(directory: Path) -> None:
    """A DirectoryError if links would lead what we write out of the directory."""
    own = [
        directory / name for name in (LOCK_FILE, JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", LOG)
    ]
    linked = [path for path in (directory.parent, directory) if path.is_symlink()]
    for path in (*linked, *filter(is_special_file, own)):
        what = LINK_REFUSAL if path.is_symlink() else "it is no file"
        raise DirectoryError(f"{path}: {what}; move it away, or use --results DIR")


def set_aside(directory: Path) -> Path:
    """Rename a run, of which nothing is deleted; returns the new directory."""
    number = 1
    while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
        number += 1
    try:
        return directory.rename(aside)
    except OSError as error:
        raise DirectoryError(f"{directory}: cannot be set aside ({error.strerror})") from None
