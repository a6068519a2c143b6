"""Finished games reused by later runs."""

import contextlib
import errno
import hashlib
import importlib.metadata
import json
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import is_external, replace_files, users_code, users_trees, varies
from agents.user_files import split_reference
from arena.planning.games import (
    RESULT_COLUMNS,
    CorruptDataError,
    Games,
    concat_games,
    decode_blob,
    take_games,
)
from arena.planning.plan import CLOCKS
from arena.planning.schedule import Block, DrawnPlan
from arena.planning.seeds import agent_seeds
from arena.storage.journal import open_database
from arena.storage.provenance import code_digest
from games.base.file_trees import file_tree
from games.kernels.splitmix import STRIDE, mixed

STORE = "games.sqlite"
LARGEST = 1 << 30  # bytes; the blocks that were used longest ago go first
BUSY_SECONDS = 2.0
BLOCKS = (
    "create table if not exists blocks (id integer primary key, shelf blob not null, "
    "used real not null, moves integer not null, words blob not null, "
    "rows blob not null, games blob not null, seal integer) strict"
)
MOST_OPEN = 64  # blocks that stay decoded
log = logging.getLogger(__name__)
Words = NDArray[np.uint64]
PACKAGES = ("numba", "numpy")
TURNED = np.uint64(1)  # the bit of games in which the later one of the two contents moves first


class CacheError(ValueError):
    """The cache cannot be opened or created; one line says why."""


class CacheDiskFull(CacheError):  # noqa: N818  # a state, not a fault
    """The cache cannot be created, as the disk is full."""


def is_disk_full(error: OSError | sqlite3.Error) -> bool:
    """Return whether the system or SQLite reports a full disk."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what it was doing
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class CacheIndex:
    """The cached games of two agents, by two words each: the opening, and all the rest."""

    def __init__(self, words: Words, blocks: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Index the words of all games, n x 2, and where they are stored."""
        hashes = _hashes(words)
        order = np.argsort(hashes, kind="stable")
        self.hashes, self.words = hashes[order], words[order]
        self.blocks, self.rows = blocks[order], rows[order]

    def find(self, words: Words) -> NDArray[np.int64]:
        """Return the place of each game in the index; -1 if it is not there."""
        if not len(self.hashes):
            return np.full(len(words), -1)
        at = np.searchsorted(self.hashes, _hashes(words))
        at = np.minimum(at, len(self.hashes) - 1)
        same = (self.words[at] == words).all(axis=1)
        return np.where(same, at, -1)


def empty_index() -> CacheIndex:
    """Return an index without games."""
    return CacheIndex(np.empty((0, 2), np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))


class GameCache:
    """Finished games in a directory, shared by all processes that open it.

    Damage costs only time: games that cannot be read are played again.
    """

    def __init__(self, directory: Path, largest: int = LARGEST, everybody: bool = False) -> None:
        """Open the cache, or create it; a CacheError if neither is possible.

        `everybody`: games of agents that may vary are stored too, each as one sample.
        """
        self.path, self.largest, self.everybody = directory / STORE, largest, everybody
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self.base = _open_or_reset(self.path)
        except (OSError, sqlite3.Error) as error:
            kind = CacheDiskFull if is_disk_full(error) else CacheError
            raise kind(f"known games cannot be kept there ({error})") from None
        self.shelves: dict[tuple[bytes, bool], CacheIndex] = {}
        self.open: dict[int, Games] = {}
        self.used: set[int] = set()

    def renew(self) -> None:
        """Forget the indexes: another run begins, and may find new games."""
        self.shelves.clear()

    def shelf(self, name: bytes, with_moves: bool) -> CacheIndex:
        """Return the index of this name; `with_moves`: only of games with their moves."""
        if (name, with_moves) not in self.shelves:
            self.shelves[name, with_moves] = empty_index()
            with self._log_errors():
                self.shelves[name, with_moves] = self._read_shelf(name, with_moves)
        return self.shelves[name, with_moves]

    def _read_shelf(self, name: bytes, with_moves: bool) -> CacheIndex:
        stored = self.base.execute(
            "select id, moves, words, rows, seal from blocks "
            "where shelf = ? and moves >= ? order by id",
            (name, int(with_moves)),
        ).fetchall()
        whole = [row for row in stored if row[4] == index_checksum(name, *row[1:4])]
        if len(whole) < len(stored):
            lost = [(row[0],) for row in stored if row not in whole]
            self.base.executemany("delete from blocks where id = ?", lost)
            log.warning("known games: %s: %d damaged blocks are forgotten", self.path, len(lost))
        if not whole:
            return empty_index()
        words = [np.frombuffer(row[2], np.uint64).reshape(-1, 2) for row in whole]
        rows = [np.frombuffer(row[3], np.int32).astype(np.int64) for row in whole]
        blocks = [np.full(len(each), row[0]) for each, row in zip(rows, whole, strict=True)]
        return CacheIndex(np.concatenate(words), np.concatenate(blocks), np.concatenate(rows))

    def games(
        self, places: list[tuple[CacheIndex, NDArray[np.int64]]], with_moves: bool
    ) -> Games | None:
        """Return the games at these places, one after another; None if some cannot be read."""
        with self._log_errors():
            return self._games(places, with_moves)
        return None

    def _games(self, places: list[tuple[CacheIndex, NDArray[np.int64]]], with_moves: bool) -> Games:
        blocks = np.concatenate([shelf.blocks[at] for shelf, at in places])
        rows = np.concatenate([shelf.rows[at] for shelf, at in places])
        order = np.argsort(blocks, kind="stable")
        names, starts = np.unique(blocks[order], return_index=True)
        parts = [
            take_games(self._block(int(name), with_moves), rows[own])
            for name, own in zip(names, np.split(order, starts[1:]), strict=True)
        ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return take_games(concat_games(parts), back)

    def _block(self, name: int, with_moves: bool) -> Games:
        """The games of a block; the damaged one is forgotten, and said to be by an exception."""
        if name not in self.open:
            (blob,) = self.base.execute("select games from blocks where id = ?", (name,)).fetchone()
            try:
                found = decode_blob(blob)
            except (CorruptDataError, ValueError, KeyError):
                self.base.execute("delete from blocks where id = ?", (name,))
                self.shelves.clear()
                raise CorruptDataError("a block of known games is damaged") from None
            columns = {
                column: np.broadcast_to(np.asarray(found.columns[column], kind), found.rows)
                for column, kind in RESULT_COLUMNS.items()
            }
            if len(self.open) == MOST_OPEN:
                del self.open[next(iter(self.open))]
            moves = None if found.moves is None else found.moves.astype(np.int16)
            self.open[name] = Games(columns, moves, {})
        self.used.add(name)
        games = self.open[name]
        return games if with_moves else Games(games.columns, None, {})

    def keep(
        self, name: bytes, words: Words, rows: NDArray[np.int64], blob: bytes, with_moves: bool
    ) -> None:
        """Keep the games of these rows of a blob under their words."""
        places = int(with_moves), words.tobytes(), rows.astype(np.int32).tobytes()
        with self._log_errors():
            self.base.execute(
                "insert into blocks (shelf, used, moves, words, rows, games, seal) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (name, time.time(), *places, blob, index_checksum(name, *places)),
            )

    def forget(self, name: bytes) -> None:
        """Forget all games of a shelf."""
        with self._log_errors():
            self.base.execute("delete from blocks where shelf = ?", (name,))
            self.shelves.clear()

    def close(self) -> None:
        """Note what was used, forget what is too much, and let go."""
        with self._log_errors():
            now = time.time()
            self.base.execute("begin immediate")
            self.base.executemany(
                "update blocks set used = ? where id = ?", [(now, each) for each in self.used]
            )
            self._trim()
            self.base.execute("commit")
        self.base.close()

    def _trim(self) -> None:
        size = "length(words) + length(rows) + length(games)"
        (total,) = self.base.execute(f"select coalesce(sum({size}), 0) from blocks").fetchone()
        if total <= self.largest:
            return
        self.base.execute(
            f"delete from blocks where id in (select id from (select id, sum({size}) over "
            "(order by used desc, id desc) as whole from blocks) where whole > ?)",
            (self.largest * 4 // 5,),
        )

    @contextlib.contextmanager
    def _log_errors(self) -> Iterator[None]:
        """Without a store the games are played: a fault of it is noted in the log, no more."""
        try:
            yield
        except (sqlite3.Error, OSError, CorruptDataError, ValueError, TypeError) as error:
            log.warning("known games: %s: %s", self.path, error)
            with contextlib.suppress(sqlite3.Error):
                if self.base.in_transaction:
                    self.base.execute("rollback")


def _open_or_reset(path: Path) -> sqlite3.Connection:
    """Open the cache; a damaged one is put aside and replaced."""
    try:
        return _opened(path)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    for end in ("-wal", "-shm"):  # of the old file
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    log.warning("known games: %s is damaged, put aside as %s", path, aside.name)
    return _opened(path)


def _opened(path: Path) -> sqlite3.Connection:
    base = open_database(path, [BLOCKS], busy_seconds=BUSY_SECONDS)
    try:
        columns = base.execute("select name from pragma_table_info('blocks')").fetchall()
        if ("seal",) not in columns:  # of an earlier version: its games are played again
            base.execute("alter table blocks add column seal integer")
        base.execute("create index if not exists by_shelf on blocks (shelf, moves)")
    except BaseException:
        base.close()
        raise
    return base


def index_checksum(name: bytes, moves: int, words: bytes, rows: bytes) -> int:
    """Return a checksum of the keys in a block; the games have their own."""
    return zlib.crc32(rows, zlib.crc32(words, zlib.crc32(b"%d" % moves, zlib.crc32(name))))


def default_cache_directory() -> Path:
    """Return the directory of the cache of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip" / "known"


def _hashes(words: Words) -> Words:
    """Return one word for the two of each game."""
    hashes: Words = mixed(words[:, 0] * STRIDE ^ words[:, 1])
    return hashes


def is_cacheable(spec: AgentSpec) -> bool:
    """Return whether the agent's moves follow from its spec and seed: no clock, no unknown code."""
    if is_external(spec) or any(name in spec.options for name in CLOCKS):
        return False
    return users_code(spec) is None or bool(spec.options.get("deterministic"))


class CacheKeys:
    """The keys of the games of one schedule."""

    def __init__(self, drawn: DrawnPlan, everybody: bool = False) -> None:
        """Compute the contents once, from the files as the run's digest has them.

        With `everybody` each game counts as a sample of its agents' play, whichever agents and
        sources they were.
        """
        self.drawn = drawn
        clock = drawn.plan.turn_seconds is not None or drawn.plan.game_seconds is not None
        self.known = [everybody or (is_cacheable(spec) and not clock) for spec in drawn.specs]
        self.contents = [
            agent_fingerprint(spec) if known else ""
            for spec, known in zip(drawn.specs, self.known, strict=True)
        ]
        self.chance = [known and varies(spec) is not None for spec, known in
                       zip(drawn.specs, self.known, strict=True)]  # fmt: skip
        if everybody:
            self.rules = json.dumps([drawn.of.name, drawn.of.digest])
            return
        versions = [importlib.metadata.version(package) for package in PACKAGES]
        self.rules = json.dumps([drawn.of.name, drawn.of.digest, code_digest(), versions])

    def shelf(self, a: int, b: int) -> bytes | None:
        """Return the name of the index of two agents; None if their games are not cacheable."""
        if not (self.known[a] and self.known[b]):
            return None
        both = sorted([self.contents[a], self.contents[b]])
        return hashlib.blake2b(f"{self.rules} {both}".encode(), digest_size=16).digest()

    def words(self, block: Block) -> Words:
        """Return two words for each game of a block, both games of a pair one after the other."""
        pairings = self.drawn.pairings
        openings, seeds = pairings.keys[pairings.openings(block)], pairings.seeds(block)
        words = np.empty((block.size, 2, 2), np.uint64)
        words[:, :, 0] = openings[:, None]
        for leg, seats in enumerate(((block.a, block.b), (block.b, block.a))):
            turned = self.contents[seats[0]] > self.contents[seats[1]]
            word = np.zeros(block.size, np.uint64)
            for seat in seats:
                own = agent_seeds(seeds, leg, pairings.agents[seat])
                chance = own if self.chance[seat] else np.zeros_like(own)
                word = mixed(word * STRIDE + chance)
            words[:, leg, 1] = (word & ~TURNED) | np.uint64(turned)
        return words.reshape(-1, 2)

    def turned(self, a: int, b: int, words: Words) -> NDArray[np.bool_]:
        """Return in which games of two agents the second one moved first."""
        later = self.contents[a] > self.contents[b]
        return np.asarray(((words[:, 1] & TURNED) == TURNED) != later)


def agent_fingerprint(spec: AgentSpec) -> str:
    """Return an agent's spec with the digests of its files and of their imports."""
    named = replace_files(spec, _by_content)
    # Of a file with imports each file has one: ladders of earlier versions know games by this.
    digests = [
        each.digest(16)
        for tree in users_trees(spec)
        for each in ([tree] if tree.is_directory else map(file_tree, tree.files.values()))
    ]
    return json.dumps([named.to_json(), digests], sort_keys=True, default=str)


def _by_content(reference: str) -> str:
    path, name = split_reference(reference, "")
    return f"{file_tree(path).digest(16)}:{name}" if path.exists() else reference
