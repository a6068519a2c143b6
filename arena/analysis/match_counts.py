"""Pairs of each match, counted by opening and result."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import (
    LOSS,
    WIN,
    GameColumn,
    Games,
    Termination,
    fair_games,
    first_mover_results,
    first_movers,
)

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

OPENING_BITS = 31
WAYS = 18  # in which a pairing can end: two results of three, fair or not
MOST_SEATS = 1 << 16
FEWEST_WAITING = 1 << 17  # rows


class Match(NamedTuple):
    """All pairings of two agents; `a` comes first in the experiment.

    A row is an opening and a way in which pairings on it ended: `half` points of `a` as first and
    as second mover, fair (both games without a forfeit) or not. `times` counts these pairings,
    `fresh` those that are evidence, and `earliest` is the number of the first of them. Rows are
    ordered by opening. `distinct` counts the games that are no duplicates,
    `forfeits` those that `a` and `b` lost by a fault; `margin` is what `a` was ahead in all games
    without one, `mover_margin` what the first movers were ahead in these `normal` games. In
    `identical` pairings both games had the same moves and no fault. `unearned` are the games that
    `a` and `b` won after their exclusion, against excluded bots: nobody played them.
    """

    a: int
    b: int
    openings: NDArray[np.int32]
    half_first: NDArray[np.int8]
    half_second: NDArray[np.int8]
    fair: Flags
    times: Ints
    fresh: Ints
    earliest: Ints
    distinct: int
    forfeits: tuple[int, int]
    margin: int
    mover_margin: int
    normal: int
    identical: int
    unearned: tuple[int, int] = (0, 0)

    @property
    def pairings(self) -> int:
        """How many pairings were played."""
        return int(self.times.sum())

    @property
    def counted(self) -> int:
        """How many pairings are evidence."""
        return int(self.fresh.sum())

    @property
    def met(self) -> int:
        """How many different openings there are."""
        return len(np.unique(self.openings))

    @property
    def as_first(self) -> NDArray[np.float64]:
        """The score of `a` as first mover, by row."""
        return self.half_first / float(WIN)

    @property
    def as_second(self) -> NDArray[np.float64]:
        """The score of `a` as second mover, by row."""
        return self.half_second / float(WIN)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The mean score of `a` in the pairings of each row."""
        return (self.as_first + self.as_second) / 2.0

    @property
    def won(self) -> int:
        """How many games `a` has won."""
        wins = (self.half_first == WIN).astype(np.int64) + (self.half_second == WIN)
        return int((wins * self.times).sum())

    def evidence(self) -> "Match":
        """Return the match without the pairings that are no evidence."""
        kept = self.only(self.fresh > 0)
        return kept._replace(times=kept.fresh)

    def fair_pairs(self) -> "Match":
        """Return the pairings in which both games were played without a forfeit."""
        return self if self.fair.all() else self.only(self.fair)

    def only(self, kept: Flags) -> "Match":
        """The match with some of its rows."""
        return self._replace(
            openings=self.openings[kept],
            half_first=self.half_first[kept],
            half_second=self.half_second[kept],
            fair=self.fair[kept],
            times=self.times[kept],
            fresh=self.fresh[kept],
            earliest=self.earliest[kept],
        )

    def mirrored(self) -> "Match":
        """The same pairings seen by `b`."""
        return self._replace(
            a=self.b,
            b=self.a,
            half_first=np.int8(WIN) - self.half_second,
            half_second=np.int8(WIN) - self.half_first,
            forfeits=self.forfeits[::-1],
            unearned=self.unearned[::-1],
            margin=-self.margin,
        )


class Piled(NamedTuple):
    """Pairings of all matches, those that ended alike in one row; ordered by key.

    `one` and `other` are the games of the first such pairing, and some `differ` from them.
    """

    key: GameColumn
    times: GameColumn
    earliest: GameColumn
    one: GameColumn
    other: GameColumn
    differ: GameColumn


class MatchCounter:
    """Takes the games of a run in schedule order and sums them up by match.

    What it holds grows with agents and openings, not with games, and how the games are cut leaves
    no trace in it.
    """

    def __init__(self) -> None:
        """No games yet."""
        self.pairings = 0
        self.places: dict[int, int] = {}  # of matches, in the order in which they came
        # distinct, both forfeits, both margins, normal, identical
        self._totals = np.zeros((7, 0), np.int64)
        self._piled = _piled([])
        self._waiting: list[Piled] = []

    def take(self, games: Games, duplicate: Flags) -> None:
        """Take whole pairings; `duplicate` says which of their games are duplicates."""
        first, second = _legs(games)
        movers = first_movers(games).astype(np.int64)
        match = self._match(movers[first] * MOST_SEATS + movers[second])
        results = first_mover_results(games).astype(np.int64)
        halves = results[first], WIN - results[second]
        self._count(games, duplicate, match, (first, second), halves)
        fair = fair_games(games)
        way = (halves[0] * 3 + halves[1]) * 2 + (fair[first] & fair[second])
        key = ((match << OPENING_BITS) + games.opening[first]) * WAYS + way
        ids = games.game_id[first], games.game_id[second]
        numbers = self.pairings + np.arange(len(key))
        alone = Piled(key, np.ones_like(key), numbers, *ids, np.zeros(len(key), np.bool_))
        self._waiting.append(_piled([alone]))
        self.pairings += len(key)
        waiting = sum(len(each.key) for each in self._waiting)
        if waiting > max(FEWEST_WAITING, len(self._piled.key)):
            self._pile()

    def _match(self, codes: Ints) -> Ints:
        """The places of the matches of these agents."""
        new, inverse = np.unique(codes, return_inverse=True)
        places = [self.places.setdefault(code, len(self.places)) for code in new.tolist()]
        more = len(self.places) - self._totals.shape[1]
        self._totals = np.pad(self._totals, ((0, 0), (0, more)))
        return np.array(places, np.int64)[inverse.ravel()]

    def _count(
        self,
        games: Games,
        duplicate: Flags,
        match: Ints,
        rows: tuple[Ints, Ints],
        halves: tuple[Ints, Ints],
    ) -> None:
        unfair = ~fair_games(games)
        scored = games.termination == Termination.NORMAL
        margins = np.where(games.first_side == 0, games.margin, -games.margin).astype(np.int64)
        margins[~scored] = 0
        first, second = rows
        own, others = (
            (unfair[first] & (halves[0] == result)) * 1 + (unfair[second] & (halves[1] == result))
            for result in (LOSS, WIN)
        )
        distinct = 2 - duplicate[first].astype(np.int64) - duplicate[second]
        ahead = margins[first] - margins[second], margins[first] + margins[second]
        normal = scored[first].astype(np.int64) + scored[second]
        same = games.game_id[first] == games.game_id[second]
        identical = same & ~unfair[first] & ~unfair[second]
        sums = distinct, own, others, *ahead, normal, identical
        for total, each in zip(self._totals, sums, strict=True):
            np.add.at(total, match, each)

    def _pile(self) -> None:
        self._piled, self._waiting = _piled([self._piled, *self._waiting]), []

    def matches(self) -> Iterator[Match]:
        """The matches, by the places of their agents."""
        self._pile()
        match = self._piled.key // WAYS >> OPENING_BITS
        for code, place in sorted(self.places.items()):
            rows = slice(*np.searchsorted(match, (place, place + 1)).tolist())
            piled = Piled(*(column[rows] for column in self._piled))
            yield _match_of(divmod(code, MOST_SEATS), piled, self._totals[:, place].tolist())


def _legs(games: Games) -> tuple[Ints, Ints]:
    """The rows of each pairing in which the agent of the lower place is first mover, or second."""
    rows = np.arange(len(games), dtype=np.int64)
    one, other = rows[0::2], rows[1::2]
    whole = len(one) == len(other) and np.array_equal(games.pair[one], games.pair[other])
    if not whole or np.any(games.first[one] != games.second[other]):
        raise ValueError("both games of a pairing must stand together, sides swapped")
    movers = first_movers(games)
    turned = movers[one] > movers[other]
    return np.where(turned, other, one), np.where(turned, one, other)


def _piled(parts: list[Piled]) -> Piled:
    """The rows of all parts, which follow one another, with those of equal keys as one."""
    none = Piled(*(np.empty(0, kind) for kind in (np.int64,) * 3 + (np.uint64,) * 2 + (np.bool_,)))
    whole = Piled(*(np.concatenate(columns) for columns in zip(none, *parts, strict=True)))
    if not len(whole.key):
        return whole
    order = np.argsort(whole.key, kind="stable")  # the earliest stays first
    key, times, earliest, one, other, differ = (column[order] for column in whole)
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(key))))
    first = starts[group]
    differ = differ | (one != one[first]) | (other != other[first])
    return Piled(
        key[starts],
        np.add.reduceat(times, starts),
        earliest[starts],
        one[starts],
        other[starts],
        np.logical_or.reduceat(differ, starts),
    )


def _match_of(agents: tuple[int, int], piled: Piled, totals: list[int]) -> Match:
    opening, way = piled.key // WAYS & (1 << OPENING_BITS) - 1, piled.key % WAYS
    halves, fair = way // 2, way % 2
    fresh = piled.times.copy() if _varied(opening, piled) else np.ones_like(piled.times)
    distinct, lost, won, margin, mover_margin, normal, identical = totals
    return Match(
        *agents,
        openings=opening.astype(np.int32),
        half_first=(halves // 3).astype(np.int8),
        half_second=(halves % 3).astype(np.int8),
        fair=fair > 0,
        times=piled.times.copy(),
        fresh=fresh,
        earliest=piled.earliest.copy(),
        distinct=distinct,
        forfeits=(lost, won),
        margin=margin,
        mover_margin=mover_margin,
        normal=normal,
        identical=identical,
    )


def _varied(opening: Ints, piled: Piled) -> bool:
    """Return whether two pairings on the same opening ever differed.

    If not, the agents are taken as deterministic, and an opening played again is no evidence.
    """
    return bool(piled.differ.any() or (opening[1:] == opening[:-1]).any())
