"""Who plays whom, from which opening, with which seed: fixed before the first game."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import SCHEDULE_COLUMNS, GameColumn
from arena.planning.rounds import Meeting
from arena.planning.seeds import match_seed, pair_seeds

# Matches take turns after this many pairings each, so that live standings cover all of them.
TURN_LENGTH = 256


class Block(NamedTuple):
    """A run of pairings of the same two agents on consecutive openings."""

    first: int  # id of its first pairing
    a: int
    b: int
    number: int  # of the match's pairings, the first of this run
    size: int

    def pieces(self, size: int) -> "Iterator[Block]":
        """The block cut into runs of at most `size`."""
        for at in range(0, self.size, size):
            yield self._replace(
                first=self.first + at, number=self.number + at, size=min(size, self.size - at)
            )


class PairOrder(NamedTuple):
    """All pairings of an experiment, numbered from 0 in the order in which they count.

    A pairing is two games from one opening, sides swapped: in leg 0 agent `a` has side 0. Where
    a schedule goes by rounds they are `laid` as far as the rounds are known.
    """

    seed: int
    game: str
    agents: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]
    pairs: int
    keys: NDArray[np.uint64]  # of the openings; they are played in turn
    sides: NDArray[np.int8]  # to move after each opening
    fixed: frozenset[tuple[int, int]] = frozenset()  # matches with one game an opening
    laid: tuple[Block, ...] | None = None  # None: every match plays all its pairs

    @property
    def total(self) -> int:
        """The number of pairings."""
        if self.laid is not None:
            return self.laid[-1].first + self.laid[-1].size if self.laid else 0
        return self.pairs * len(self.matches)

    def and_then(self, meetings: Iterable[Meeting]) -> "PairOrder":
        """The pairings with one more round."""
        laid, at = list(self.laid or ()), self.total
        played: dict[tuple[int, int], int] = defaultdict(int)
        for block in laid:
            played[block.a, block.b] = block.number + block.size
        for a, b, size, opening in meetings:
            number = played[a, b] if opening is None else opening
            laid.append(Block(at, a, b, number, size))
            at += size
        return self._replace(laid=tuple(laid))

    def carried(self, start: int, stop: int) -> tuple[Block, ...]:
        """The blocks that a task must carry: whoever has the plan does not know later rounds."""
        return () if self.laid is None else tuple(self.blocks(start, stop))

    def carrying(self, blocks: tuple[Block, ...]) -> "PairOrder":
        """The pairings that a task carries, if it carries any."""
        return self._replace(laid=blocks) if blocks else self

    @property
    def turn(self) -> int:
        """How many pairings of a match follow one another: all, if it is the only one."""
        return TURN_LENGTH if len(self.matches) > 1 else self.pairs

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """The runs that make up pairings `start` to `stop` - 1."""
        if self.laid is not None:
            yield from _between(self.laid, start, stop)
            return
        whole = self.turn * len(self.matches)
        while start < stop:
            match, number = (int(each[0]) for each in self.places(np.array([start])))
            turn = start // whole
            length = min(self.turn, self.pairs - turn * self.turn)
            ends = turn * whole + (match + 1) * length
            size = min(stop, ends) - start
            yield Block(start, *self.matches[match], number, size)
            start += size

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The match of every pairing, and its number within that match."""
        if self.laid is not None:
            return self._laid_places(self.laid, ids)
        if len(self.matches) == 1:
            return np.zeros_like(ids), ids
        turn, within = np.divmod(ids, self.turn * len(self.matches))
        length = np.minimum(self.turn, self.pairs - turn * self.turn)  # the last may be short
        match, offset = np.divmod(within, length)
        return match, turn * self.turn + offset

    def _laid_places(
        self, laid: tuple[Block, ...], ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if len(ids) == 0:
            return ids, ids
        place = {match: at for at, match in enumerate(self.matches)}
        first = np.array([block.first for block in laid])
        at = np.searchsorted(first, ids, side="right") - 1
        match = np.array([place[block.a, block.b] for block in laid])
        number = np.array([block.number for block in laid])
        return match[at], number[at] + ids - first[at]

    def openings(self, block: Block) -> NDArray[np.int64]:
        """The place of the opening of every pairing of the block."""
        return np.arange(block.number, block.number + block.size) % len(self.keys)

    def repeats(self, block: Block) -> bool:
        """Whether pairings of the block repeat the games of earlier ones."""
        last = block.number + block.size
        return (block.a, block.b) in self.fixed and last > len(self.keys)

    def seeds(self, block: Block) -> NDArray[np.uint64]:
        """The seed of every pairing of the block."""
        match = block.a, block.b
        numbers = np.arange(block.number, block.number + block.size)
        return self._seeds(self._base(match), numbers, match in self.fixed)

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """The schedule's columns for pairings `start` to `stop` - 1, two rows each."""
        ids = np.arange(start, stop)
        match, number = self.places(ids)
        # Of many matches a batch has a few.
        met, place = np.unique(match, return_inverse=True)
        known = [self.matches[each] for each in met.tolist()]
        bases = np.array([self._base(each) for each in known], np.uint64)[place]
        fixed = np.array([each in self.fixed for each in known], np.bool_)[place]
        seats = np.array(known, np.int16).reshape(-1, 2)[place]
        opening = number % len(self.keys)
        once: dict[str, GameColumn] = {
            "pair": ids,
            "opening": opening,
            "first_side": self.sides[opening],
            "seed": self._seeds(bases, number, fixed),
        }
        columns = {
            name: np.repeat(each.astype(SCHEDULE_COLUMNS[name]), 2) for name, each in once.items()
        }
        return columns | {
            "leg": np.tile(np.array([0, 1], np.int8), len(ids)),
            "first": seats.ravel(),
            "second": seats[:, ::-1].ravel(),
        }

    def _base(self, match: tuple[int, int]) -> np.uint64:
        return match_seed(self.seed, self.game, [self.agents[place] for place in match])

    def _seeds(
        self,
        base: np.uint64 | NDArray[np.uint64],
        numbers: NDArray[np.int64],
        fixed: bool | NDArray[np.bool_],
    ) -> NDArray[np.uint64]:
        """A new seed each time an opening is played; always the first where games are `fixed`."""
        turns, places = np.divmod(numbers, len(self.keys))
        return pair_seeds(base, self.keys[places], np.where(fixed, 0, turns))


def _between(laid: tuple[Block, ...], start: int, stop: int) -> Iterator[Block]:
    """The blocks that hold pairings `start` to `stop` - 1, cut to them."""
    at = bisect_right(laid, start, key=lambda block: block.first) - 1
    while start < stop:
        block = laid[at]
        skipped = start - block.first
        size = min(stop - start, block.size - skipped)
        yield block._replace(first=start, number=block.number + skipped, size=size)
        start, at = start + size, at + 1
