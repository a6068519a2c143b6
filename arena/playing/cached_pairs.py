"""Pairs taken from the game cache."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.registry import users_code
from arena.planning.games import (
    Batch,
    Games,
    Termination,
    decode_games,
    encode_games,
    make_batch,
    take_games,
)
from arena.planning.schedule import Block, DrawnPlan, PairOrder
from arena.playing.worker import COST_COLUMNS
from arena.storage.game_cache import CacheIndex, CacheKeys, GameCache, empty_index

AT_ONCE = 1 << 13  # pairings that are looked up together
# Games that cost less than a look into the store, in runs of very many, are not kept.
MIN_SECONDS, MOST_CHEAP = 1e-4, 400_000
CACHEABLE_ENDINGS = (
    Termination.NORMAL,
    Termination.TOO_LONG,
)  # a forfeit is played again: its words count


class CachedChunk(NamedTuple):
    """Pairings from `start` on that were looked up together, and the games of the known ones."""

    start: int
    known: NDArray[np.bool_]
    games: Games | None

    @property
    def stop(self) -> int:
        """The first pair after these."""
        return self.start + len(self.known)

    def run(self, at: int, known: bool) -> int:
        """Return how many pairs from `at` on are all cached, or all not cached."""
        other = np.flatnonzero(self.known[at - self.start :] != known)
        return int(other[0]) if len(other) else self.stop - at


class CachedPairs:
    """The pairs of one run that are in the game cache, and storing those that are played.

    A pair reported as cached stays cached: its games are read at once.
    """

    def __init__(self, drawn: DrawnPlan, store: GameCache | None) -> None:
        """Without a cache no pair is cached, nor in a run that keeps search information."""
        store = None if drawn.plan.thoughts else store
        self.drawn, self.store = drawn, store
        self.keys = None if store is None else CacheKeys(drawn, store.everybody)
        if store is not None:
            store.renew()
        self.moves = drawn.plan.keep_moves
        self.taken = 0
        self._pieces: list[CachedChunk] = []

    def unknown(self, pairings: PairOrder, start: int) -> tuple[int, int]:
        """The next unknown pairing from `start` on, and where the unknown ones after it end.

        They may end early, where they were last looked up: tasks are smaller anyway.
        """
        if self.store is None:
            return start, pairings.total
        while start < pairings.total:
            piece = self._piece(pairings, start)
            start += piece.run(start, known=True)
            if start < piece.stop:
                return start, start + piece.run(start, known=False)
        return start, start

    def batch(self, pairings: PairOrder, start: int) -> Batch | None:
        """The known pairings from `start` on as one batch; None if that one is not known."""
        if self.store is None or start >= pairings.total:
            return None
        self._pieces = [piece for piece in self._pieces if piece.stop > start]
        piece = self._piece(pairings, start)
        size = piece.run(start, known=True)
        if size == 0 or piece.games is None:
            return None
        skipped = 2 * int(piece.known[: start - piece.start].sum())
        games = take_games(piece.games, np.arange(skipped, skipped + 2 * size))
        return make_batch(start, start + size, games, 0.0)

    def _piece(self, pairings: PairOrder, at: int) -> CachedChunk:
        """The piece that a pairing is in."""
        for piece in self._pieces:
            if piece.start <= at < piece.stop:
                return piece
        ends = [piece.start for piece in self._pieces if piece.start > at]
        piece = self._looked_up(pairings, at, min([at + AT_ONCE, pairings.total, *ends]))
        self._pieces.append(piece)
        return piece

    def _looked_up(self, pairings: PairOrder, start: int, stop: int) -> CachedChunk:
        assert self.store is not None  # or nothing is looked up
        known, places, again = [], [], []
        for block in pairings.blocks(start, stop):
            shelf, at = self._find(block)
            there = (at >= 0).reshape(-1, 2).all(axis=1)
            known.append(there)
            if there.any():
                places.append((shelf, at[np.repeat(there, 2)]))
                again.append(_repeating(pairings, block)[np.repeat(there, 2)])
        flags = np.concatenate(known)
        games = self.store.games(places, self.moves) if places else None
        if games is None:  # none is known, or the store is damaged
            return CachedChunk(start, np.zeros_like(flags), None)
        for (
            name
        ) in COST_COLUMNS:  # nobody thought about a game that repeats an earlier one of the run
            games.columns[name] = np.where(np.concatenate(again), 0, games.columns[name])
        return CachedChunk(start, flags, games)

    def _find(self, block: Block) -> tuple[CacheIndex, NDArray[np.int64]]:
        """The places of a block's games on their shelf."""
        assert self.store is not None and self.keys is not None  # or nothing is looked up
        name = self.keys.shelf(block.a, block.b)
        shelf = empty_index() if name is None else self.store.shelf(name, self.moves)
        if not len(shelf.hashes):
            return shelf, np.full(2 * block.size, -1)
        return shelf, shelf.find(self.keys.words(block))

    def differing(self, pairings: PairOrder, games: Games, first: int) -> bool:
        """Return whether the cache has other games than these, which start with pair `first`.

        If so, all games of these agents are removed from it.
        """
        if self.store is None or self.keys is None:
            return False
        piece = self._looked_up(pairings, first, first + len(games) // 2)
        if piece.games is None:
            return False
        played = take_games(games, np.flatnonzero(np.repeat(piece.known, 2)))
        same = ("game_id", "result", "margin", "plies", "termination")
        if all(np.array_equal(played.columns[n], piece.games.columns[n]) for n in same):
            return False
        for block in pairings.blocks(first, piece.stop):
            if (name := self.keys.shelf(block.a, block.b)) is not None:
                self.store.forget(name)
        return True

    def keep_tested(
        self, pairings: PairOrder, start: int, games: Games, places: Collection[int]
    ) -> None:
        """Keep games of users' agents that were seen to repeat their moves; others' are kept."""
        stop = start + len(games) // 2
        if self.store is None or not any(
            self._waits(block) for block in pairings.blocks(start, stop)
        ):
            return
        new = [
            block
            for block in pairings.blocks(start, stop)
            if all(
                at in places or not users_code(self.drawn.specs[at]) for at in (block.a, block.b)
            )
            and not (self._find(block)[1] >= 0).all()
        ]
        taken = float((games.first_nanoseconds + games.second_nanoseconds).sum()) / 1e9
        self._keep_blocks(pairings, make_batch(start, stop, games, taken), filter(self._waits, new))

    def _waits(self, block: Block) -> bool:
        """Return whether games are kept only after a test of their agents."""
        if self.store is None or self.store.everybody:
            return False
        return any(users_code(self.drawn.specs[place]) for place in (block.a, block.b))

    def keep(self, pairings: PairOrder, batch: Batch) -> None:
        """Keep the games of a batch that was played."""
        blocks = pairings.blocks(batch.start, batch.stop) if batch.stop > batch.start else ()
        self._keep_blocks(pairings, batch, (block for block in blocks if not self._waits(block)))

    def _keep_blocks(self, pairings: PairOrder, batch: Batch, chosen: Iterable[Block]) -> None:
        if self.store is None or self.keys is None or batch.stop <= batch.start:
            return
        size = batch.stop - batch.start
        if batch.seconds / size < MIN_SECONDS and pairings.total > MOST_CHEAP:
            return
        blocks = [
            (block, name)
            for block in chosen
            if (name := self.keys.shelf(block.a, block.b)) is not None
        ]
        if not blocks:
            return
        games = decode_games([batch.games], pairings.columns(batch.start, batch.stop))
        for block, name in blocks:
            self._keep_block(pairings, batch, block, name, games)

    def _keep_block(
        self, pairings: PairOrder, batch: Batch, block: Block, name: bytes, games: Games
    ) -> None:
        assert self.store is not None and self.keys is not None  # or nothing is kept
        rows = np.arange(2 * block.size) + 2 * (block.first - batch.start)
        kept = np.isin(games.termination[rows], [int(how) for how in CACHEABLE_ENDINGS])
        if self.store.everybody:
            kept |= games.plies[rows] > 0  # not those that a bot forfeits unplayed
        kept &= ~_repeating(pairings, block)
        if not kept.any():
            return
        words, blob = self.keys.words(block)[kept], batch.games
        if len(rows) == 2 * (batch.stop - batch.start):
            self.store.keep(name, words, rows[kept], blob, games.moves is not None)
            return
        blob = encode_games(take_games(games, rows[kept]))
        self.store.keep(name, words, np.arange(int(kept.sum())), blob, games.moves is not None)


def _repeating(pairings: PairOrder, block: Block) -> NDArray[np.bool_]:
    """Return which games of a block are duplicates of earlier ones of its match."""
    number = np.arange(block.number, block.number + block.size)
    later = number >= len(pairings.keys)
    return np.repeat(later & ((block.a, block.b) in pairings.fixed), 2)
