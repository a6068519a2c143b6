"""The locked directory of a run and its journal: one SQLite file of named sections."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.planning.games import CorruptDataError, GameColumn, Games, decode_games
from games.base.errors import Unfinished, UserError
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
CHECKPOINT_PAGES = 16_384  # 64 MiB: batches of a fast run are large, and copying them takes time
BUSY_SECONDS = 5.0
# Returns the columns of the schedule from one pair to before another.
ScheduleColumns = Callable[[int, int], dict[str, GameColumn]]


class DirectoryError(Unfinished):
    """The directory cannot be used; the message says why and what to do in one line."""


def lock_directory(directory: Path) -> int:
    """Lock the directory until the returned descriptor is closed.

    DirectoryError if another run holds the lock.
    """
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
    note: str  # JSON with more facts, such as the weights of a trial


class RunDirectory:
    """The locked directory of one run or study, with its journal."""

    def __init__(self, path: Path, digest: str, fresh: bool | None = False) -> None:
        """Open or begin the run of this `digest`; `fresh` sets an earlier one aside.

        None: the command has no --fresh. DirectoryError says why the directory cannot be opened.
        """
        self.path, self.digest = path, digest
        self.restart_hint = "move it away" if fresh is None else "--fresh sets this run aside"
        refuse_links(path)
        self.is_new = not (path / LOCK_FILE).exists()
        self.aside: Path | None = None  # the earlier run
        self._lock = lock_directory(path)
        if fresh and (path / JOURNAL).exists():
            self.aside = set_aside(path)
            os.close(self._lock)
            self._lock = lock_directory(path)
            self.is_new = True
        try:
            with self.translate_errors():
                self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self) -> None:
        self.database = open_database(self.path / JOURNAL, SCHEMA, busy_seconds=BUSY_SECONDS)
        try:
            self.database.execute(f"pragma wal_autocheckpoint={CHECKPOINT_PAGES}")
            stored = self.database.execute("select digest from run").fetchone()
            if stored is None:
                self.database.execute("insert into run (digest) values (?)", (self.digest,))
            elif stored[0] != self.digest:
                raise CorruptDataError("it belongs to another experiment")
            (fault,) = self.database.execute("pragma integrity_check(1)").fetchone()
            if fault != "ok":
                raise CorruptDataError(" ".join(fault.split()))
            for name, key, checksum in self.database.execute("select * from sections").fetchall():
                Section(self, name, key).check(checksum)
        except BaseException:
            self.database.close()
            raise

    def __enter__(self) -> "RunDirectory":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the journal and release the lock; a run that is refused unplayed leaves nothing."""
        is_refused = kind is not None and issubclass(kind, UserError)
        try:
            is_empty = is_refused and self.is_new and not any(self.item_counts().values())
            self.database.close()
            if is_empty:
                self._remove()
        finally:
            os.close(self._lock)

    def _remove(self) -> None:
        """Delete the directory; an earlier run that was set aside comes back."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            if self.aside is not None:
                self.aside.rename(self.path)
            self.path.parent.rmdir()  # only if it is empty

    def item_counts(self) -> dict[tuple[str, str], int]:
        """Return how many items of each section are finished, by its name and key."""
        with self.translate_errors():
            rows = self.database.execute("select name, key from sections").fetchall()
        return {(name, key): Section(self, name, key).item_count() for name, key in rows}

    def forget_since(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Remove the items that were stored since `item_counts`, and the facts of new sections."""
        sections = self.item_counts()
        with self.translate_errors():
            self.database.execute("begin immediate")
            with self.database:
                for name, key in sections:
                    query = "delete from section_batches where section = ? and stop > ?"
                    self.database.execute(query, (name, counts.get((name, key), 0)))
                    if (name, key) not in counts:
                        query = "delete from section_facts where section = ?"
                        self.database.execute(query, (name,))

    def section(self, name: str = "games", key: str = "") -> "Section":
        """Return a section of the journal; one that was written under another key is emptied."""
        section, query = Section(self, name, key), "select key from sections where name = ?"
        with self.translate_errors():
            if self.database.execute(query, (name,)).fetchone() != (key,):
                self.database.execute("begin immediate")
                with self.database:
                    for table in ("section_batches", "section_facts"):
                        self.database.execute(f"delete from {table} where section = ?", (name,))
                    row = name, key, section.checksum()
                    self.database.execute("insert or replace into sections values (?, ?, ?)", row)
        return section

    @contextlib.contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Report a full disk or a damaged file in one line; nothing that was written is lost."""
        journal = self.path / JOURNAL
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise DirectoryError(
                f"{journal}: cannot be used ({error}); finished work is kept, "
                "the same command continues"
            ) from None
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:  # whatever is in it
            raise DirectoryError(
                f"{journal}: is damaged ({error}); {self.restart_hint} to start over"
            ) from None


class Section:
    """A named part of a journal: numbered batches without gaps, and facts."""

    def __init__(self, run: RunDirectory, name: str, key: str) -> None:
        """Call `RunDirectory.section` to get a section."""
        self.run, self.name, self.key = run, name, key
        self.directory, self.database = run.path, run.database

    def append(self, start: int, stop: int, content: bytes, note: str = "") -> None:
        """Store a batch safely before this returns; storing it twice changes nothing."""
        checksum = self.checksum(start, stop, note, content=content)
        with self.run.translate_errors():
            self.database.execute(
                "insert or ignore into section_batches values (?, ?, ?, ?, ?, ?)",
                (self.name, start, stop, content, note, checksum),
            )

    def item_count(self) -> int:
        """Return how many items are finished, up to the first gap."""
        query = "select start, stop from section_batches where section = ? order by start"
        with self.run.translate_errors():
            count = 0
            for start, stop in self.database.execute(query, (self.name,)):
                if start != count:
                    break
                count = stop
            return count

    def batches(self) -> Iterator[StoredBatch]:
        """Yield the batches in order, up to the first gap."""
        with self.run.translate_errors():
            count = 0
            for batch in self._load_batches():
                if batch.start != count:
                    return
                count = batch.stop
                yield batch

    def games(self, columns: ScheduleColumns) -> Iterator[tuple[int, int, Games]]:
        """Yield the pairs and games of each batch, in schedule order.

        Batches are read one by one: the `columns` of one may follow from those before it.
        """
        with self.run.translate_errors():
            for batch in self.batches():
                games = decode_games([batch.content], columns(batch.start, batch.stop))
                yield batch.start, batch.stop, games

    def read_fact(self, name: str) -> Any:
        """Return a fact as JSON reads it; None if it is not known."""
        query = "select content, checksum from section_facts where section = ? and name = ?"
        with self.run.translate_errors():
            row = self.database.execute(query, (self.name, name)).fetchone()
            return None if row is None else self._parse_fact(name, *row)

    def write_fact(self, name: str, value: object) -> None:
        """Store a fact, in place of an earlier one of this name."""
        content = json.dumps(value)
        row = (self.name, name, content, self.checksum(name, content))
        with self.run.translate_errors():
            self.database.execute("insert or replace into section_facts values (?, ?, ?, ?)", row)

    def forget(self, start: int, name: str, value: object) -> None:
        """Remove the batches from item `start` on and store a fact, both or neither."""
        with self.run.translate_errors():
            self.database.execute("begin immediate")
            with self.database:
                query = "delete from section_batches where section = ? and stop > ?"
                self.database.execute(query, (self.name, start))
                self.write_fact(name, value)

    def check(self, checksum: int) -> None:
        """Raise CorruptDataError unless everything is as it was written.

        Batches after a gap are removed: they would conflict with those that are played now.
        """
        if checksum != self.checksum():
            raise CorruptDataError(f"its section {self.name!a} is not what was written there")
        query = "select name, content, checksum from section_facts where section = ?"
        for row in self.database.execute(query, (self.name,)).fetchall():
            self._parse_fact(*row)
        count, after_gap = 0, list[tuple[str, int]]()
        for batch in self._load_batches():
            if batch.start == count:
                count = batch.stop
            else:
                after_gap.append((self.name, batch.start))
        query = "delete from section_batches where section = ? and start = ?"
        self.database.executemany(query, after_gap)

    def _load_batches(self) -> Iterator[StoredBatch]:
        rows = self.database.execute(
            "select start, stop, content, note, checksum from section_batches where section = ? "
            "order by start",
            (self.name,),
        )
        for start, stop, content, note, checksum in rows:
            if checksum != self.checksum(start, stop, note, content=content):
                raise CorruptDataError(f"its batch {start} to {stop} is not what was written there")
            yield StoredBatch(start, stop, content, note)

    def _parse_fact(self, name: str, content: str, checksum: int) -> Any:
        if checksum != self.checksum(name, content):
            raise CorruptDataError(f"its {name!a} is not what was written there")
        return json.loads(content)

    def checksum(self, *head: object, content: bytes = b"") -> int:
        """Return the checksum of a batch or fact in its place: in another place it is damage."""
        place = json.dumps([self.run.digest, self.name, self.key, *head]).encode()
        return zlib.crc32(content, zlib.crc32(place))


def open_database(path: Path, schema: Sequence[str], *, busy_seconds: float) -> sqlite3.Connection:
    """Open an SQLite file that several processes may write, and create its tables."""
    database = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        database.execute("pragma synchronous=normal")
        database.execute("pragma journal_mode=wal")
        for statement in schema:
            database.execute(statement)
    except BaseException:
        database.close()
        raise
    return database


def refuse_links(directory: Path) -> None:
    """Raise DirectoryError if a link would lead what a run writes out of the directory."""
    names = (LOCK_FILE, JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", LOG)
    links = [path for path in (directory.parent, directory) if path.is_symlink()]
    for path in (*links, *filter(is_special_file, (directory / name for name in names))):
        what = LINK_REFUSAL if path.is_symlink() else "it is no file"
        raise DirectoryError(f"{path}: {what}; move it away, or use --results DIR")


def set_aside(directory: Path) -> Path:
    """Rename a run without deleting anything; return the new directory."""
    number = 1
    while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
        number += 1
    try:
        return directory.rename(aside)
    except OSError as error:
        raise DirectoryError(f"{directory}: cannot be set aside ({error.strerror})") from None
