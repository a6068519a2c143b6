"""Who plays whom from which opening with which seed: all fixed before the first game."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.seeds import match_base, pair_seeds

# Matches take turns after so many pairings each, so that live standings cover all of them.
TURN = 256


class Block(NamedTuple):
    """A run of pairings of the same two agents on consecutive openings."""

    first: int  # id of its first pairing
    a: int
    b: int
    number: int  # of the match's pairings, the first of this run
    size: int


class Schedule(NamedTuple):
    """All pairings of an experiment, numbered from 0 in the order in which they count."""

    seed: int
    game: str
    agents: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]
    pairs: int
    keys: NDArray[np.uint64]  # of the openings; they are played in turn

    @property
    def total(self) -> int:
        """The number of pairings."""
        return self.pairs * len(self.matches)

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """The runs that make up pairings `start` to `stop` - 1."""
        while start < stop:
            number, match, ends = self._place(start)
            size = min(stop, ends) - start
            a, b = self.matches[match]
            yield Block(start, a, b, number, size)
            start += size

    def _place(self, pairing: int) -> tuple[int, int, int]:
        """Number within its match, the match, and the id that ends its run."""
        matches = len(self.matches)
        turn, within = divmod(pairing, TURN * matches)
        length = min(TURN, self.pairs - turn * TURN)  # the last turn may be short
        match, offset = divmod(within, length)
        ends = turn * TURN * matches + (match + 1) * length
        return turn * TURN + offset, match, ends

    def openings(self, block: Block) -> NDArray[np.int64]:
        """The place of the opening of every pairing of the block."""
        return (block.number + np.arange(block.size)) % len(self.keys)

    def seeds(self, block: Block) -> NDArray[np.uint64]:
        """The seed of every pairing of the block."""
        names = (self.agents[block.a], self.agents[block.b])
        numbers = (block.number + np.arange(block.size)) // len(self.keys)
        base = match_base(self.seed, self.game, names)
        return pair_seeds(base, self.keys[self.openings(block)], numbers)
