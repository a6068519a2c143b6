"""Who plays whom, from which opening, with which seed: fixed before the first game."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.pairing_seeds import match_base, pair_seeds
from arena.planning.records import PLACED, GameColumn

# Matches take turns after this many pairings each, so that live standings cover all of them.
TURN = 256


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


class Pairings(NamedTuple):
    """All pairings of an experiment, numbered from 0 in the order in which they count.

    A pairing is two games from one opening, sides swapped: in leg 0 agent `a` moves first.
    """

    seed: int
    game: str
    agents: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]
    pairs: int
    keys: NDArray[np.uint64]  # of the openings; they are played in turn
    fixed: frozenset[tuple[int, int]] = frozenset()  # matches with one game an opening

    @property
    def total(self) -> int:
        """The number of pairings."""
        return self.pairs * len(self.matches)

    @property
    def turn(self) -> int:
        """How many pairings of a match follow one another: all, if it is the only one."""
        return TURN if len(self.matches) > 1 else self.pairs

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """The runs that make up pairings `start` to `stop` - 1."""
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
        if len(self.matches) == 1:
            return np.zeros_like(ids), ids
        turn, within = np.divmod(ids, self.turn * len(self.matches))
        length = np.minimum(self.turn, self.pairs - turn * self.turn)  # the last may be short
        match, offset = np.divmod(within, length)
        return match, turn * self.turn + offset

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
        sides = np.array(self.matches, np.int16)[match]
        bases = np.array([self._base(each) for each in self.matches], np.uint64)
        fixed = np.array([each in self.fixed for each in self.matches])
        once = {
            "pair": ids,
            "opening": number % len(self.keys),
            "seed": self._seeds(bases[match], number, fixed[match]),
        }
        columns = {name: np.repeat(each.astype(PLACED[name]), 2) for name, each in once.items()}
        return columns | {
            "leg": np.tile(np.array([0, 1], np.int8), len(ids)),
            "first": sides.ravel(),
            "second": sides[:, ::-1].ravel(),
        }

    def _base(self, match: tuple[int, int]) -> np.uint64:
        return match_base(self.seed, self.game, [self.agents[place] for place in match])

    def _seeds(
        self,
        base: np.uint64 | NDArray[np.uint64],
        numbers: NDArray[np.int64],
        fixed: bool | NDArray[np.bool_],
    ) -> NDArray[np.uint64]:
        """A new seed each time an opening is played; always the first where games are `fixed`."""
        turns, places = np.divmod(numbers, len(self.keys))
        return pair_seeds(base, self.keys[places], np.where(fixed, 0, turns))
