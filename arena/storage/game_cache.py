"""The game cache: finished games that later runs reuse."""

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
from agents.options import TIME_OPTIONS
from agents.registry import (
    is_external,
    randomness_reason,
    replace_files,
    user_code_reason,
    user_trees,
)
from agents.user_files import split_reference
from arena.planning.games import (
    RESULT_COLUMNS,
    CorruptDataError,
    Games,
    concat_games,
    decode_blob,
    take_games,
)
from arena.planning.schedule import Block, Schedule
from arena.planning.seeds import agent_seeds
from arena.storage.journal import open_database
from arena.storage.provenance import code_digest
from games.base.file_trees import file_tree
from games.kernels.splitmix import STRIDE, mixed

STORE = "games.sqlite"
MAX_BYTES = 1 << 30  # the blocks that were used longest ago are deleted first
BUSY_SECONDS = 2.0
BLOCKS = (
    "create table if not exists blocks (id integer primary key, shelf blob not null, "
    "used real not null, moves integer not null, words blob not null, "
    "rows blob not null, games blob not null, seal integer) strict"
)
FACTS = "create table if not exists facts (name text primary key, content text not null) strict"
MAX_OPEN = 64  # blocks that stay decoded
log = logging.getLogger(__name__)
Words = NDArray[np.uint64]
PACKAGES = ("numba", "numpy")
# The bit of games in which the agent with the later fingerprint moves first.
SWAP_BIT = np.uint64(1)
Places = list[tuple["CacheIndex", NDArray[np.int64]]]


class CacheError(ValueError):
    """The cache cannot be opened or created; one line says why."""


class CacheDiskFull(CacheError):  # noqa: N818  # a state, not a fault
    """The cache cannot be created because the disk is full."""


def is_disk_full(error: OSError | sqlite3.Error) -> bool:
    """Return whether the system or SQLite reports a full disk."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return _primary_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _primary_code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) & 0xFF)


class CacheIndex:
    """The cached games of two agents, by two words each: the opening, and all other facts."""

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
        return np.where((self.words[at] == words).all(axis=1), at, -1)


def empty_index() -> CacheIndex:
    """Return an index without games."""
    return CacheIndex(np.empty((0, 2), np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))


class GameCache:
    """Finished games in a directory, shared by all processes that open it.

    Damage costs only time: games that cannot be read are played again.
    """

    def __init__(
        self, directory: Path, max_bytes: int = MAX_BYTES, all_agents: bool = False
    ) -> None:
        """Open the cache, or create it; a CacheError if neither is possible.

        `all_agents`: games of agents that may vary are stored too, each as one sample, and which
        bots load.
        """
        self.path, self.max_bytes, self.all_agents = directory / STORE, max_bytes, all_agents
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self.database = _open_or_reset(self.path)
        except (OSError, sqlite3.Error) as error:
            kind = CacheDiskFull if is_disk_full(error) else CacheError
            raise kind(f"known games cannot be kept there ({error})") from None
        self.indexes: dict[tuple[bytes, bool], CacheIndex] = {}
        self.open_blocks: dict[int, Games] = {}
        self.used_blocks: set[int] = set()

    def refresh(self) -> None:
        """Forget the indexes: another run begins, and may find new games."""
        self.indexes.clear()

    def index(self, name: bytes, with_moves: bool) -> CacheIndex:
        """Return the index of this name; `with_moves`: only of games with their moves."""
        if (name, with_moves) not in self.indexes:
            self.indexes[name, with_moves] = empty_index()
            with self._log_errors():
                self.indexes[name, with_moves] = self._load_index(name, with_moves)
        return self.indexes[name, with_moves]

    def _load_index(self, name: bytes, with_moves: bool) -> CacheIndex:
        stored = self.database.execute(
            "select id, moves, words, rows, seal from blocks "
            "where shelf = ? and moves >= ? order by id",
            (name, int(with_moves)),
        ).fetchall()
        intact = [row for row in stored if row[4] == index_checksum(name, *row[1:4])]
        if len(intact) < len(stored):
            damaged = [(row[0],) for row in stored if row not in intact]
            self.database.executemany("delete from blocks where id = ?", damaged)
            log.warning("known games: %s: %d damaged blocks are forgotten", self.path, len(damaged))
        if not intact:
            return empty_index()
        words = [np.frombuffer(row[2], np.uint64).reshape(-1, 2) for row in intact]
        rows = [np.frombuffer(row[3], np.int32).astype(np.int64) for row in intact]
        blocks = [np.full(len(each), row[0]) for each, row in zip(rows, intact, strict=True)]
        return CacheIndex(np.concatenate(words), np.concatenate(blocks), np.concatenate(rows))

    def games(self, places: Places, with_moves: bool) -> Games | None:
        """Return the games at these places, one after another; None if some cannot be read."""
        with self._log_errors():
            blocks = np.concatenate([index.blocks[at] for index, at in places])
            rows = np.concatenate([index.rows[at] for index, at in places])
            order = np.argsort(blocks, kind="stable")
            ids, starts = np.unique(blocks[order], return_index=True)
            parts = [
                take_games(self._load_block(block, with_moves), rows[own], with_traces=True)
                for block, own in zip(ids.tolist(), np.split(order, starts[1:]), strict=True)
            ]
            return take_games(concat_games(parts), np.argsort(order), with_traces=True)
        return None

    def _load_block(self, block: int, with_moves: bool) -> Games:
        """Return the games of a block; a damaged one is deleted and raises CorruptDataError."""
        if block not in self.open_blocks:
            query = "select games from blocks where id = ?"
            (content,) = self.database.execute(query, (block,)).fetchone()
            try:
                blob = decode_blob(content)
            except (CorruptDataError, ValueError, KeyError):
                self.database.execute("delete from blocks where id = ?", (block,))
                self.indexes.clear()
                raise CorruptDataError("a block of known games is damaged") from None
            columns = {
                name: np.broadcast_to(np.asarray(blob.columns[name], dtype), blob.rows)
                for name, dtype in RESULT_COLUMNS.items()
            }
            if len(self.open_blocks) == MAX_OPEN:
                del self.open_blocks[next(iter(self.open_blocks))]
            moves = None if blob.moves is None else blob.moves.astype(np.int16)
            self.open_blocks[block] = Games(columns, moves, blob.traces)
        self.used_blocks.add(block)
        games = self.open_blocks[block]
        return games if with_moves else Games(games.columns, None, games.traces)

    def store(
        self, name: bytes, words: Words, rows: NDArray[np.int64], blob: bytes, with_moves: bool
    ) -> None:
        """Store the games of these rows of a blob under their words."""
        places = int(with_moves), words.tobytes(), rows.astype(np.int32).tobytes()
        with self._log_errors():
            self.database.execute(
                "insert into blocks (shelf, used, moves, words, rows, games, seal) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (name, time.time(), *places, blob, index_checksum(name, *places)),
            )

    def read_fact(self, name: str) -> str | None:
        """Return a fact about an agent; None if it is not known."""
        with self._log_errors():
            query = "select content from facts where name = ?"
            row = self.database.execute(query, (name,)).fetchone()
            return None if row is None else str(row[0])
        return None

    def write_fact(self, name: str, content: str) -> None:
        """Store a fact about an agent, in place of an earlier one."""
        with self._log_errors():
            self.database.execute("insert or replace into facts values (?, ?)", (name, content))

    def remove(self, name: bytes) -> None:
        """Remove all games of an index."""
        with self._log_errors():
            self.database.execute("delete from blocks where shelf = ?", (name,))
            self.indexes.clear()

    def close(self) -> None:
        """Note which blocks were used, delete the oldest ones above the limit, and close."""
        with self._log_errors():
            now = time.time()
            self.database.execute("begin immediate")
            self.database.executemany(
                "update blocks set used = ? where id = ?",
                [(now, block) for block in self.used_blocks],
            )
            self._trim()
            self.database.execute("commit")
        self.database.close()

    def _trim(self) -> None:
        size = "length(words) + length(rows) + length(games)"
        query = f"select coalesce(sum({size}), 0) from blocks"
        (total,) = self.database.execute(query).fetchone()
        if total <= self.max_bytes:
            return
        self.database.execute(
            f"delete from blocks where id in (select id from (select id, sum({size}) over "
            "(order by used desc, id desc) as whole from blocks) where whole > ?)",
            (self.max_bytes * 4 // 5,),
        )

    @contextlib.contextmanager
    def _log_errors(self) -> Iterator[None]:
        """Log a fault of the cache and go on: the games are played instead."""
        try:
            yield
        except (sqlite3.Error, OSError, CorruptDataError, ValueError, TypeError) as error:
            log.warning("known games: %s: %s", self.path, error)
            with contextlib.suppress(sqlite3.Error):
                if self.database.in_transaction:
                    self.database.execute("rollback")


def _open_or_reset(path: Path) -> sqlite3.Connection:
    """Open the cache; a damaged one is renamed and replaced."""
    try:
        return _open(path)
    except sqlite3.DatabaseError as error:
        if _primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    for end in ("-wal", "-shm"):  # of the old file
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
    log.warning("known games: %s is damaged, put aside as %s", path, aside.name)
    return _open(path)


def _open(path: Path) -> sqlite3.Connection:
    database = open_database(path, [BLOCKS, FACTS], busy_seconds=BUSY_SECONDS)
    try:
        columns = database.execute("select name from pragma_table_info('blocks')").fetchall()
        if ("seal",) not in columns:  # of an earlier version: its games are played again
            database.execute("alter table blocks add column seal integer")
        database.execute("create index if not exists by_shelf on blocks (shelf, moves)")
    except BaseException:
        database.close()
        raise
    return database


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
    if is_external(spec) or any(name in spec.options for name in TIME_OPTIONS):
        return False
    return user_code_reason(spec) is None or bool(spec.options.get("deterministic"))


class CacheKeys:
    """The keys of the games of one schedule."""

    def __init__(self, schedule: Schedule, all_agents: bool = False) -> None:
        """Read the users' files once, as they are in the run's digest.

        With `all_agents` each game counts as a sample of its agents' play, for any agents and
        sources.
        """
        self.schedule = schedule
        plan, specs = schedule.plan, schedule.specs
        has_clock = plan.turn_seconds is not None or plan.game_seconds is not None
        self.is_cacheable = [all_agents or (is_cacheable(spec) and not has_clock) for spec in specs]
        known = list(zip(specs, self.is_cacheable, strict=True))
        self.fingerprints = [agent_fingerprint(spec) if cached else "" for spec, cached in known]
        self.has_chance = [cached and randomness_reason(spec) is not None for spec, cached in known]
        rules: list[object] = [schedule.game.name, schedule.game.digest]
        if all_agents:
            rules += [plan.move_seconds, plan.turn_seconds, plan.game_seconds, plan.increment]
        else:
            versions = [importlib.metadata.version(package) for package in PACKAGES]
            rules += [code_digest(), versions]
        self.rules = json.dumps(rules)

    def index_name(self, a: int, b: int) -> bytes | None:
        """Return the name of the index of two agents; None if their games are not cacheable."""
        if not (self.is_cacheable[a] and self.is_cacheable[b]):
            return None
        both = sorted([self.fingerprints[a], self.fingerprints[b]])
        return hashlib.blake2b(f"{self.rules} {both}".encode(), digest_size=16).digest()

    def words(self, block: Block) -> Words:
        """Return two words for each game of a block, both games of a pair one after the other."""
        pairs = self.schedule.pairs
        openings, seeds = pairs.opening_keys[pairs.opening_numbers(block)], pairs.seeds(block)
        words = np.empty((block.size, 2, 2), np.uint64)
        words[:, :, 0] = openings[:, None]
        for leg, seats in enumerate(((block.a, block.b), (block.b, block.a))):
            is_swapped = self.fingerprints[seats[0]] > self.fingerprints[seats[1]]
            word = np.zeros(block.size, np.uint64)
            for seat in seats:
                own = agent_seeds(seeds, leg, pairs.agents[seat])
                chance = own if self.has_chance[seat] else np.zeros_like(own)
                word = mixed(word * STRIDE + chance)
            words[:, leg, 1] = (word & ~SWAP_BIT) | np.uint64(is_swapped)
        return words.reshape(-1, 2)


def agent_fingerprint(spec: AgentSpec) -> str:
    """Return an agent's spec with the digests of its files and of their imports."""
    named = replace_files(spec, _name_by_content)
    digests = [tree.digest(16) for tree in user_trees(spec)]
    return json.dumps([named.to_json(), digests], sort_keys=True, default=str)


def _name_by_content(reference: str) -> str:
    path, name = split_reference(reference, "")
    return f"{file_tree(path).digest(16)}:{name}" if path.exists() else reference
