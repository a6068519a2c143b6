"""Games that agents without chance would repeat: copied from the first, not played again."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from arena.planning.pairings import Block, Pairings
from arena.planning.records import CLOCKED, Games, games_of_rows, joined
from arena.playing.compiled_loop import COSTS

MOST_KNOWN = 4096  # pairings that a process remembers; others it plays again
FREE = (*{*COSTS, *CLOCKED}, "first_moves", "second_moves")

Play = Callable[[Block], list[Games]]
Key = tuple[int, int, int]  # both agents and the opening


class Repeats:
    """The games that one process remembers of matches that depend on nothing but the opening.

    All pairings of such a match that share an opening share a seed, so it does not matter which
    of them is played: the tables are the same for any number of processes.
    """

    def __init__(self, pairings: Pairings) -> None:
        """Nothing is remembered yet."""
        self.pairings = pairings
        self.known: dict[Key, Games] = {}

    def games(self, block: Block, play: Play) -> list[Games]:
        """Both games of every pairing of the block; `play` plays those that are new."""
        openings = len(self.pairings.keys)
        once = joined(list(self._once(block._replace(size=min(block.size, openings)), play)))
        if block.size <= openings:
            return [once]
        return [once, copied(once, np.arange(openings, block.size) % openings)]

    def _once(self, block: Block, play: Play) -> Iterator[Games]:
        """The games of a block in which no opening comes twice."""
        keys = [(block.a, block.b, place) for place in self.pairings.openings(block).tolist()]
        at = 0
        while at < len(keys):
            if keys[at] in self.known:
                yield self.known[keys[at]]
                at += 1
                continue
            end = at
            while end < len(keys) and keys[end] not in self.known:
                end += 1
            piece = block._replace(first=block.first + at, number=block.number + at, size=end - at)
            played = joined(play(piece))
            self._remember(keys[at:end], played)
            yield played
            at = end

    def _remember(self, keys: list[Key], played: Games) -> None:
        for pairing, key in enumerate(keys[: MOST_KNOWN - len(self.known)]):
            self.known[key] = copied(played, np.array([pairing]))


def copied(games: Games, pairings: NDArray[np.int64]) -> Games:
    """A copy of the games of some pairings, at no cost: no agent had to think."""
    rows = np.stack([2 * pairings, 2 * pairings + 1], axis=1).ravel()
    again = games_of_rows(games, rows)
    for name in FREE:
        again.columns[name] = np.zeros_like(again.columns[name])
    return again
