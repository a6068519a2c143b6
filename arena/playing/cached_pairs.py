"""Pairs of a run that are taken from the game cache, or stored there."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.registry import user_code_reason
from arena.planning.games import (
    Batch,
    Games,
    Termination,
    decode_games,
    encode_games,
    make_batch,
    take_games,
)
from arena.planning.schedule import Block, PairOrder, Schedule
from arena.playing.worker import COST_COLUMNS
from arena.storage.game_cache import CacheIndex, CacheKeys, GameCache, empty_index

MAX_LOOKUP = 1 << 13  # pairs that are looked up together
# Games that cost less than a lookup are not stored, in runs with very many of them.
MIN_SECONDS, MAX_CHEAP_PAIRS = 1e-4, 400_000
# A forfeit is played again, because its message counts.
CACHEABLE_ENDINGS = (Termination.NORMAL, Termination.TOO_LONG)


class CachedChunk(NamedTuple):
    """Pairs that were looked up together, and the games of the cached ones."""

    start: int
    is_cached: NDArray[np.bool_]
    games: Games | None

    @property
    def stop(self) -> int:
        """The first pair after these."""
        return self.start + len(self.is_cached)

    def run_length(self, at: int, cached: bool) -> int:
        """Return how many pairs from `at` on are all cached, or all not cached."""
        other = np.flatnonzero(self.is_cached[at - self.start :] != cached)
        return int(other[0]) if len(other) else self.stop - at


class CachedPairs:
    """The pairs of one run that are in the game cache.

    A pair that is reported as cached stays cached: its games are read at once.
    """

    def __init__(self, schedule: Schedule, cache: GameCache | None) -> None:
        """Without a cache no pair is cached, nor in a run that keeps search information."""
        self.schedule = schedule
        self.cache = None if schedule.plan.keep_search_info else cache
        self.keys = None
        if self.cache is not None:
            self.keys = CacheKeys(schedule, self.cache.all_agents)
            self.cache.refresh()
        self.with_moves = schedule.plan.keep_moves
        self.game_count = 0  # games that were taken from the cache
        self._chunks: list[CachedChunk] = []

    def pairs_to_play(self, pairs: PairOrder, start: int) -> tuple[int, int]:
        """Return the next pair from `start` on that is not cached, and where such pairs end.

        They may end early, where the last lookup ended: tasks are smaller anyway.
        """
        if self.cache is None:
            return start, pairs.total
        while start < pairs.total:
            chunk = self._chunk(pairs, start)
            start += chunk.run_length(start, cached=True)
            if start < chunk.stop:
                return start, start + chunk.run_length(start, cached=False)
        return start, start

    def batch(self, pairs: PairOrder, start: int) -> Batch | None:
        """Return the cached pairs from `start` on as one batch; None if that one is not cached."""
        if self.cache is None or start >= pairs.total:
            return None
        self._chunks = [chunk for chunk in self._chunks if chunk.stop > start]
        chunk = self._chunk(pairs, start)
        size = chunk.run_length(start, cached=True)
        if size == 0 or chunk.games is None:
            return None
        skipped = 2 * int(chunk.is_cached[: start - chunk.start].sum())
        games = take_games(chunk.games, np.arange(skipped, skipped + 2 * size), with_traces=True)
        return make_batch(start, start + size, games, 0.0)

    def _chunk(self, pairs: PairOrder, at: int) -> CachedChunk:
        """Return the chunk with a pair."""
        for chunk in self._chunks:
            if chunk.start <= at < chunk.stop:
                return chunk
        starts = [chunk.start for chunk in self._chunks if chunk.start > at]
        chunk = self._look_up(pairs, at, min([at + MAX_LOOKUP, pairs.total, *starts]))
        self._chunks.append(chunk)
        return chunk

    def _look_up(self, pairs: PairOrder, start: int, stop: int) -> CachedChunk:
        assert self.cache is not None  # otherwise nothing is looked up
        cached, places, duplicates = [], [], []
        for block in pairs.blocks(start, stop):
            index, at = self._find(block)
            both = (at >= 0).reshape(-1, 2).all(axis=1)
            cached.append(both)
            if both.any():
                places.append((index, at[np.repeat(both, 2)]))
                duplicates.append(_duplicate_mask(pairs, block)[np.repeat(both, 2)])
        is_cached = np.concatenate(cached)
        games = self.cache.games(places, self.with_moves) if places else None
        if games is None:  # no pair is cached, or the cache is damaged
            return CachedChunk(start, np.zeros_like(is_cached), None)
        for name in COST_COLUMNS:  # a duplicate of an earlier game of the run has no costs
            games.columns[name] = np.where(np.concatenate(duplicates), 0, games.columns[name])
        return CachedChunk(start, is_cached, games)

    def _find(self, block: Block) -> tuple[CacheIndex, NDArray[np.int64]]:
        """Return the places of a block's games in the index of their agents."""
        assert self.cache is not None and self.keys is not None  # otherwise nothing is looked up
        name = self.keys.index_name(block.a, block.b)
        index = empty_index() if name is None else self.cache.index(name, self.with_moves)
        if not len(index.hashes):
            return index, np.full(2 * block.size, -1)
        return index, index.find(self.keys.words(block))

    def forget_if_different(self, pairs: PairOrder, games: Games, first: int) -> bool:
        """Return whether the cache has other games than these, which start with pair `first`.

        If so, all games of these agents are removed from it.
        """
        if self.cache is None or self.keys is None or self.cache.all_agents:
            return False  # in a cache for all agents each game is a sample
        chunk = self._look_up(pairs, first, first + len(games) // 2)
        if chunk.games is None:
            return False
        played = take_games(games, np.flatnonzero(np.repeat(chunk.is_cached, 2)))
        names = ("game_id", "result", "margin", "plies", "termination")
        if all(np.array_equal(played.columns[n], chunk.games.columns[n]) for n in names):
            return False
        for block in pairs.blocks(first, chunk.stop):
            if (name := self.keys.index_name(block.a, block.b)) is not None:
                self.cache.remove(name)
        return True

    def store_batch(self, pairs: PairOrder, batch: Batch) -> None:
        """Store the games of a batch that was played, except those that need a test first."""
        blocks = pairs.blocks(batch.start, batch.stop) if batch.stop > batch.start else ()
        chosen = (block for block in blocks if not self._needs_test(block))
        self._store_blocks(pairs, batch, chosen)

    def store_bot_games(
        self, pairs: PairOrder, start: int, games: Games, places: Collection[int]
    ) -> None:
        """Store games of bots; those in `places` have passed the test that they repeat moves."""
        stop = start + len(games) // 2
        blocks = [block for block in pairs.blocks(start, stop) if self._needs_test(block)]
        new = [
            block
            for block in blocks
            if all(
                at in places or not user_code_reason(self.schedule.specs[at])
                for at in (block.a, block.b)
            )
            and not (self._find(block)[1] >= 0).all()
        ]
        if new:
            taken = float((games.first_nanoseconds + games.second_nanoseconds).sum()) / 1e9
            self._store_blocks(pairs, make_batch(start, stop, games, taken), new)

    def _needs_test(self, block: Block) -> bool:
        """Return whether games are stored only after a test of their agents."""
        if self.cache is None or self.cache.all_agents:
            return False
        return any(user_code_reason(self.schedule.specs[at]) for at in (block.a, block.b))

    def _store_blocks(self, pairs: PairOrder, batch: Batch, chosen: Iterable[Block]) -> None:
        if self.cache is None or self.keys is None or batch.stop <= batch.start:
            return
        size = batch.stop - batch.start
        if batch.seconds / size < MIN_SECONDS and pairs.total > MAX_CHEAP_PAIRS:
            return
        named = [(block, self.keys.index_name(block.a, block.b)) for block in chosen]
        blocks = [(block, name) for block, name in named if name is not None]
        if not blocks:
            return
        games = decode_games([batch.blob], pairs.columns(batch.start, batch.stop))
        for block, name in blocks:
            self._store_block(pairs, batch, block, name, games)

    def _store_block(
        self, pairs: PairOrder, batch: Batch, block: Block, name: bytes, games: Games
    ) -> None:
        assert self.cache is not None and self.keys is not None  # otherwise nothing is stored
        rows = np.arange(2 * block.size) + 2 * (block.first - batch.start)
        mask = np.isin(games.termination[rows], [int(how) for how in CACHEABLE_ENDINGS])
        if self.cache.all_agents:
            mask |= games.plies[rows] > 0  # not games that a bot forfeits unplayed
        mask &= ~_duplicate_mask(pairs, block)
        if not mask.any():
            return
        words, blob, rows = self.keys.words(block)[mask], batch.blob, rows[mask]
        if block.size < batch.stop - batch.start:
            blob, rows = (
                encode_games(take_games(games, rows, with_traces=True)),
                np.arange(len(rows)),
            )
        self.cache.store(name, words, rows, blob, games.moves is not None)


def _duplicate_mask(pairs: PairOrder, block: Block) -> NDArray[np.bool_]:
    """Return which games of a block are duplicates of earlier ones of its match."""
    number = np.arange(block.number, block.number + block.size)
    later = number >= len(pairs.opening_keys)
    return np.repeat(later & ((block.a, block.b) in pairs.deterministic), 2)
