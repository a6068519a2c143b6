"""Which games of a run say something new, gathered by the two agents that played them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.records import WIN, Games, Termination
from games.kernels.splitmix import STRIDE

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
Words = NDArray[np.uint64]


class Match(NamedTuple):
    """All pairings of two agents in schedule order; `a` comes first in the experiment.

    `first` and `second` are the rows of the games in which `a` moved first and second, the
    scores are those of `a`. Pairings that are not `fresh` repeat what was seen before.
    """

    a: int
    b: int
    first: Rows
    second: Rows
    openings: NDArray[np.int32]
    as_first: NDArray[np.float64]
    as_second: NDArray[np.float64]
    fresh: Flags

    @property
    def rows(self) -> Rows:
        """The rows of all games of the match."""
        return np.concatenate([self.first, self.second])

    @property
    def scores(self) -> NDArray[np.float64]:
        """The mean score of `a` in each pairing."""
        return (self.as_first + self.as_second) / 2.0

    def evidence(self) -> "Match":
        """The match without the pairings that repeat what was seen before."""
        if self.fresh.all():
            return self
        kept = self.fresh
        return self._replace(
            first=self.first[kept],
            second=self.second[kept],
            openings=self.openings[kept],
            as_first=self.as_first[kept],
            as_second=self.as_second[kept],
            fresh=kept[kept],
        )

    def mirrored(self) -> "Match":
        """The same pairings seen by `b`."""
        return self._replace(
            a=self.b,
            b=self.a,
            first=self.second,
            second=self.first,
            as_first=1.0 - self.as_second,
            as_second=1.0 - self.as_first,
        )


def repeats(games: Games) -> Flags:
    """Which games were played before, move by move, by the same agents in the same seats."""
    seats = games.first.astype(np.uint64) << np.uint64(16) | games.second.astype(np.uint64)
    keys = games.game_id + (seats + np.uint64(1)) * STRIDE
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found = np.zeros(len(games), np.bool_)
    found[order[1:][ordered[1:] == ordered[:-1]]] = True
    return found


def matches(games: Games, repeat: Flags) -> list[Match]:
    """The matches of a run, by the places of their agents."""
    legs = _legs(games)
    low, high = (np.asarray(side[legs[0]], np.int64) for side in (games.first, games.second))
    turned = low > high
    low, high = np.where(turned, high, low), np.where(turned, low, high)
    first, second = np.where(turned, legs[::-1], legs)
    order = np.argsort(low * (high.max(initial=0) + 1) + high, kind="stable")
    changes = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    parts = np.split(order, np.flatnonzero(changes) + 1) if len(order) else []
    return [
        _match(games, repeat, (int(low[part[0]]), int(high[part[0]])), first[part], second[part])
        for part in parts
    ]


def forfeited_rows(games: Games, match: Match, agent: int) -> Rows:
    """The games of a match that one of its agents lost by a fault of its own."""
    own = match if agent == match.a else match.mirrored()
    rows = np.concatenate([own.first[own.as_first == 0.0], own.second[own.as_second == 0.0]])
    return np.asarray(rows[games.termination[rows] != Termination.NORMAL])


def _legs(games: Games) -> tuple[Rows, Rows]:
    """The rows of the first and of the second games of all pairings."""
    rows = np.arange(len(games), dtype=np.int64)
    one, other = rows[0::2], rows[1::2]
    whole = len(one) == len(other) and np.array_equal(games.pair[one], games.pair[other])
    if not whole or np.any(games.first[one] != games.second[other]):
        raise ValueError("both games of a pairing must stand together, sides swapped")
    return one, other


def _match(
    games: Games, repeat: Flags, agents: tuple[int, int], first: Rows, second: Rows
) -> Match:
    openings = games.opening[first]
    played = games.game_id[first], games.game_id[second]
    return Match(
        *agents,
        first,
        second,
        openings,
        games.result[first] / float(WIN),
        1.0 - games.result[second] / float(WIN),
        _fresh(openings, played, repeat[first] & repeat[second]),
    )


def _fresh(openings: NDArray[Any], played: tuple[Words, Words], seen: Flags) -> Flags:
    """Which pairings are evidence: all of them if two on one opening ever differed.

    Otherwise the agents are taken as deterministic, and what was seen before is a replay.
    """
    if not seen.any():
        return ~seen
    _, earliest, opening = np.unique(openings, return_index=True, return_inverse=True)
    same = earliest[opening]
    varied = np.any([games != games[same] for games in played])
    return np.ones_like(seen) if varied else ~seen
