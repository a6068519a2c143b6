"""Locked run directory, sections, facts."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.planning.games import CorruptDataError, GameColumn, Games, decode_games
from arena.planning.pair_order import PairOrder
from games.base.errors import Unfinished, UserError
from games.base.files import LINK_REFUSAL, NO_LINK, is_special_file

LOCK_FILE = "lock"
LOCK_SECONDS = 1.0
TABLE = (
    "create table if not exists facts "
    "(name text primary key, content text not null, seal integer not null) strict"
)
JOURNAL = "journal.sqlite"
LOG = "run.log"
# 64 MiB: the batches of a fast run are large, and copying them takes time
CHECKPOINT_PAGES = 16_384
BUSY_SECONDS = 5.0
# The columns of the schedule for some pairings, from one to before another.
Placed = Callable[[int, int], dict[str, GameColumn]]


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


class SealedFacts:
    """The facts of one journal; Damaged if one is not what was written under its name."""

    def __init__(self, base: sqlite3.Connection, digest: str) -> None:
        """A fact of the journal of another `digest` is damage too."""
        self.base, self.digest = base, digest
        base.execute(TABLE)

    def all(self, prefix: str = "") -> dict[str, str]:
        """The facts whose names begin so, by the rest of their names."""
        rows = self.base.execute("select name, content, seal from facts").fetchall()
        for name, content, seal in rows:
            if seal != self._seal(name, content):
                raise CorruptDataError(
                    f"its {name.partition(' ')[0]!a} is not what was written there"
                )
        return {
            name.removeprefix(prefix): content
            for name, content, _ in rows
            if name.startswith(prefix)
        }

    def get(self, name: str) -> str | None:
        """A fact; None if it is not known."""
        return self.all().get(name)

    def keep(self, name: str, content: str) -> None:
        """Keep a fact, in place of what was known by this name."""
        self.base.execute(
            "insert or replace into facts values (?, ?, ?)",
            (name, content, self._seal(name, content)),
        )

    def _seal(self, name: str, content: str) -> int:
        return zlib.crc32("\0".join((self.digest, name, content)).encode())


class StoredBatch(NamedTuple):
    """The games of pairings, or of one trial, `start` to `stop` - 1."""

    start: int
    stop: int
    games: bytes
    note: str  # JSON: whatever else is known, such as the weights of a trial


class Journal:
    """The journal of one run or study, open for one process.

    A run counts pairings and keeps them in batches; a study counts trials, each a batch.
    """

    def __init__(self, directory: Path, digest: str, fresh: bool | None = False) -> None:
        """Open or begin the run of this `digest`; `fresh` sets an earlier one aside.

        None: the command has no --fresh. DirectoryError says why it cannot be opened.
        """
        self.directory, self.digest = directory, digest
        self.way_out = "move it away" if fresh is None else "--fresh sets this run aside"
        refuse_links(directory)
        self._is_new = not (directory / LOCK_FILE).exists()
        self._aside: Path | None = None
        self._lock = lock_directory(directory)
        if fresh and (directory / JOURNAL).exists():
            self._aside = set_aside(directory)
            os.close(self._lock)
            self._lock = lock_directory(directory)
            self._is_new = True
        try:
            with self._in_words():
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
            self._look_through()
        except BaseException:
            self._base.close()
            raise

    def _begin(self, digest: str) -> None:
        self._base.execute("pragma synchronous=normal")
        self._base.execute("pragma journal_mode=wal")
        self._base.execute(f"pragma wal_autocheckpoint={CHECKPOINT_PAGES}")
        self._base.execute(
            "create table if not exists batches "
            "(start integer primary key, stop integer not null, games blob not null, "
            "note text not null, seal integer not null) strict"
        )
        self._base.execute("create table if not exists run (digest text not null) strict")
        stored = self._base.execute("select digest from run").fetchone()
        if stored is None:
            self._base.execute("insert into run (digest) values (?)", (digest,))
        elif stored[0] != digest:
            raise CorruptDataError("it belongs to another experiment")
        self._facts = SealedFacts(self._base, digest)

    def _look_through(self) -> None:
        """Damaged if anything in it is not as it was written; what counts for nothing is removed.

        Batches after a gap would stand in the way of those that are played now.
        """
        (fault,) = self._base.execute("pragma quick_check(1)").fetchone()
        if fault != "ok":
            raise CorruptDataError(" ".join(fault.split()))
        self._facts.all()
        reached, loose = 0, list[tuple[int]]()
        for batch in self._stored():
            if batch.start == reached:
                reached = batch.stop
            else:
                loose.append((batch.start,))
        self._base.executemany("delete from batches where start = ?", loose)

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """Report a full disk or a broken file in one line; nothing that was written is lost."""
        journal = self.directory / JOURNAL
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

    def __enter__(self) -> "Journal":
        """The journal itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the journal and release the lock; nothing is left of what was refused unplayed."""
        refused = kind is not None and issubclass(kind, UserError)
        leave_nothing = refused and self._is_new and not self.finished()
        self._base.close()
        if leave_nothing:
            self._remove()
        os.close(self._lock)

    def _remove(self) -> None:
        """Delete the directory; what was set aside for it comes back."""
        shutil.rmtree(self.directory, ignore_errors=True)
        with contextlib.suppress(OSError):
            if self._aside is not None:
                self._aside.rename(self.directory)
            self.directory.parent.rmdir()  # only if nothing is left in it

    def append(self, start: int, stop: int, games: bytes, note: str = "") -> None:
        """Store a batch, safely once this returns; to store it twice changes nothing."""
        with self._in_words():
            self._base.execute(
                "insert or ignore into batches values (?, ?, ?, ?, ?)",
                (start, stop, games, note, self._seal(start, stop, games, note)),
            )

    def _seal(self, start: int, stop: int, games: bytes, note: str) -> int:
        """A checksum of a batch in its place: another batch's games are refused there."""
        head = json.dumps([self.digest, start, stop, note]).encode()
        return zlib.crc32(games, zlib.crc32(head))

    def fixed(self) -> frozenset[tuple[int, int]] | None:
        """The stored matches with one game an opening; None if they are not known yet."""
        with self._in_words():
            stored = self._facts.get("fixed")
            return None if stored is None else frozenset((a, b) for a, b in json.loads(stored))

    def keep_fixed(self, fixed: frozenset[tuple[int, int]]) -> None:
        """Store these matches, so that a continued run has the same ones."""
        with self._in_words():
            self._facts.keep("fixed", json.dumps(sorted(fixed)))

    def forget(self, start: int, fixed: frozenset[tuple[int, int]]) -> None:
        """Remove the batches from pairing `start` on and keep these fixed matches, or neither."""
        with self._in_words():
            self._base.execute("begin immediate")
            with self._base:
                self._base.execute("delete from batches where stop > ?", (start,))
                self._facts.keep("fixed", json.dumps(sorted(fixed)))

    def tried(self) -> dict[int, tuple[int, ...]]:
        """The games of the trial pairings that find the fixed matches, by number."""
        with self._in_words():
            rows = self._facts.all("tried ")
            return {int(pairing): tuple(json.loads(seen)) for pairing, seen in rows.items()}

    def keep_tried(self, pairing: int, seen: tuple[int, ...]) -> None:
        """Store the games of a trial pairing."""
        with self._in_words():
            self._facts.keep(f"tried {pairing}", json.dumps(seen))

    def unloadable(self) -> dict[int, str] | None:
        """Why agents do not load, by their places; None if they have not been tried yet."""
        with self._in_words():
            stored = self._facts.get("unloadable")
            return None if stored is None else dict(json.loads(stored))

    def keep_unloadable(self, reasons: Mapping[int, str]) -> None:
        """Store why agents do not load, so that a continued run does not ask again."""
        with self._in_words():
            self._facts.keep("unloadable", json.dumps(sorted(reasons.items())))

    def plan(self) -> str | None:
        """The stored plan of this study as JSON; None if it has only begun."""
        with self._in_words():
            return self._facts.get("plan")

    def keep_plan(self, plan: str) -> None:
        """Store the plan of this study, again if the budget has cut it short."""
        with self._in_words():
            self._facts.keep("plan", plan)

    def finished(self) -> int:
        """How many pairings or trials are finished, counted from the first one without a gap."""
        with self._in_words():
            reached = 0
            for start, stop in self._base.execute("select start, stop from batches order by start"):
                if start != reached:
                    break
                reached = stop
            return reached

    def batches(self) -> Iterator[StoredBatch]:
        """The batches in order, up to the first gap."""
        with self._in_words():
            yield from self._batches()

    def parts(self, placed: Placed) -> Iterator[tuple[int, int, Games]]:
        """The pairings and games of each batch, in schedule order.

        A batch is read when it is asked for: what `placed` says of it may follow from those before.
        """
        with self._in_words():
            for start, stop, blob, _ in self._batches():
                yield start, stop, decode_games([blob], placed(start, stop))

    def games(self, schedule: PairOrder) -> Games:
        """All games so far."""
        placed = schedule.columns(0, self.finished())
        with self._in_words():
            return decode_games((batch.games for batch in self._batches()), placed)

    def _batches(self) -> Iterator[StoredBatch]:
        reached = 0
        for batch in self._stored():
            if batch.start != reached:
                return
            reached = batch.stop
            yield batch

    def _stored(self) -> Iterator[StoredBatch]:
        rows = self._base.execute(
            "select start, stop, games, note, seal from batches order by start"
        )
        for start, stop, games, note, seal in rows:
            if seal != self._seal(start, stop, games, note):
                raise CorruptDataError(f"its batch {start} to {stop} is not what was written there")
            yield StoredBatch(start, stop, games, note)


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
