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
WAYS = 18  # results of a pair: two of three, fair or not
MOST_SEATS = 1 << 16
FEWEST_WAITING = 1 << 17  # rows


class Match(NamedTuple):
    """All pairs of two agents; `a` comes first in the experiment.

    A row is an opening and a result of pairs on it: the half points of `a` as first and as second
    mover, and whether both games were `fair` (without a forfeit). `times` counts these pairs,
    `evidence_times` those that are evidence, and `earliest` is the number of the first one. Rows
    are ordered by opening. `distinct_games` counts the games that are no duplicates, `forfeits`
    those that `a` and `b` lost by a fault. Of the `normal_games`, which ended without a fault,
    `margin` sums the margins of `a` and `mover_margin` those of the first movers. In
    `identical_pairs` both games had the same moves and no fault. `unearned_wins` of `a` and `b` are
    against excluded bots after their own exclusion, so the games were not played.
    """

    a: int
    b: int
    openings: NDArray[np.int32]
    half_first: NDArray[np.int8]
    half_second: NDArray[np.int8]
    fair: Flags
    times: Ints
    evidence_times: Ints
    earliest: Ints
    distinct_games: int
    forfeits: tuple[int, int]
    margin: int
    mover_margin: int
    normal_games: int
    identical_pairs: int
    unearned_wins: tuple[int, int] = (0, 0)

    @property
    def pairs(self) -> int:
        """Return the number of pairs."""
        return int(self.times.sum())

    @property
    def evidence_pairs(self) -> int:
        """Return the number of pairs that are evidence."""
        return int(self.evidence_times.sum())

    @property
    def distinct_openings(self) -> int:
        """Return the number of distinct openings."""
        return len(np.unique(self.openings))

    @property
    def as_first(self) -> NDArray[np.float64]:
        """Return the score of `a` as first mover, by row."""
        return self.half_first / float(WIN)

    @property
    def as_second(self) -> NDArray[np.float64]:
        """Return the score of `a` as second mover, by row."""
        return self.half_second / float(WIN)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Return the mean score of `a` in the pairs of each row."""
        return (self.as_first + self.as_second) / 2.0

    @property
    def wins(self) -> int:
        """Return the number of games that `a` won."""
        wins = (self.half_first == WIN).astype(np.int64) + (self.half_second == WIN)
        return int((wins * self.times).sum())

    def evidence(self) -> "Match":
        """Return the match without the pairs that are no evidence."""
        kept = self.select_rows(self.evidence_times > 0)
        return kept._replace(times=kept.evidence_times)

    def fair_pairs(self) -> "Match":
        """Return the pairs in which both games were played without a forfeit."""
        return self if self.fair.all() else self.select_rows(self.fair)

    def select_rows(self, kept: Flags) -> "Match":
        """Return the match with some of its rows."""
        return self._replace(
            openings=self.openings[kept],
            half_first=self.half_first[kept],
            half_second=self.half_second[kept],
            fair=self.fair[kept],
            times=self.times[kept],
            evidence_times=self.evidence_times[kept],
            earliest=self.earliest[kept],
        )

    def mirror(self) -> "Match":
        """Return the same pairs from the side of `b`."""
        return self._replace(
            a=self.b,
            b=self.a,
            half_first=np.int8(WIN) - self.half_second,
            half_second=np.int8(WIN) - self.half_first,
            forfeits=self.forfeits[::-1],
            unearned_wins=self.unearned_wins[::-1],
            margin=-self.margin,
        )


class PairRows(NamedTuple):
    """Pairs of all matches, one row for equal results on one opening, ordered by key.

    `one` and `other` are the games of the first pair of a row; `differ` is true if another pair has
    other games.
    """

    key: GameColumn
    times: GameColumn
    earliest: GameColumn
    one: GameColumn
    other: GameColumn
    differ: GameColumn


class MatchCounter:
    """Sums the games of a run, taken in schedule order, by match.

    Its memory grows with agents and openings, not with games. The result does not depend on how the
    games are divided into pieces.
    """

    def __init__(self) -> None:
        self.pairs = 0
        self.places: dict[int, int] = {}  # of matches, in order of appearance
        # distinct, both forfeits, both margins, normal, identical
        self._totals = np.zeros((7, 0), np.int64)
        self._rows = _merge_rows([])
        self._waiting: list[PairRows] = []

    def take(self, games: Games, duplicate: Flags) -> None:
        """Take whole pairs; `duplicate` marks the games that are duplicates."""
        first, second = _leg_rows(games)
        movers = first_movers(games).astype(np.int64)
        match = self._match_places(movers[first] * MOST_SEATS + movers[second])
        results = first_mover_results(games).astype(np.int64)
        halves = results[first], WIN - results[second]
        self._count(games, duplicate, match, (first, second), halves)
        fair = fair_games(games)
        way = (halves[0] * 3 + halves[1]) * 2 + (fair[first] & fair[second])
        key = ((match << OPENING_BITS) + games.opening[first]) * WAYS + way
        ids = games.game_id[first], games.game_id[second]
        numbers = self.pairs + np.arange(len(key))
        alone = PairRows(key, np.ones_like(key), numbers, *ids, np.zeros(len(key), np.bool_))
        self._waiting.append(_merge_rows([alone]))
        self.pairs += len(key)
        waiting = sum(len(each.key) for each in self._waiting)
        if waiting > max(FEWEST_WAITING, len(self._rows.key)):
            self._merge_waiting()

    def _match_places(self, codes: Ints) -> Ints:
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

    def _merge_waiting(self) -> None:
        self._rows, self._waiting = _merge_rows([self._rows, *self._waiting]), []

    def matches(self) -> Iterator[Match]:
        """Yield the matches, ordered by the places of their agents."""
        self._merge_waiting()
        match = self._rows.key // WAYS >> OPENING_BITS
        for code, place in sorted(self.places.items()):
            rows = slice(*np.searchsorted(match, (place, place + 1)).tolist())
            piled = PairRows(*(column[rows] for column in self._rows))
            yield _match_of(divmod(code, MOST_SEATS), piled, self._totals[:, place].tolist())


def _leg_rows(games: Games) -> tuple[Ints, Ints]:
    """Return the rows of each pair in which the agent of lower place moves first, and second."""
    rows = np.arange(len(games), dtype=np.int64)
    one, other = rows[0::2], rows[1::2]
    whole = len(one) == len(other) and np.array_equal(games.pair[one], games.pair[other])
    if not whole or np.any(games.first[one] != games.second[other]):
        raise ValueError("both games of a pair must follow each other, with sides swapped")
    movers = first_movers(games)
    turned = movers[one] > movers[other]
    return np.where(turned, other, one), np.where(turned, one, other)


def _merge_rows(parts: list[PairRows]) -> PairRows:
    """Merge rows of equal keys; the parts follow one another in time."""
    none = PairRows(
        *(np.empty(0, kind) for kind in (np.int64,) * 3 + (np.uint64,) * 2 + (np.bool_,))
    )
    whole = PairRows(*(np.concatenate(columns) for columns in zip(none, *parts, strict=True)))
    if not len(whole.key):
        return whole
    order = np.argsort(whole.key, kind="stable")  # stable: the earliest stays first
    key, times, earliest, one, other, differ = (column[order] for column in whole)
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(key))))
    first = starts[group]
    differ = differ | (one != one[first]) | (other != other[first])
    return PairRows(
        key[starts],
        np.add.reduceat(times, starts),
        earliest[starts],
        one[starts],
        other[starts],
        np.logical_or.reduceat(differ, starts),
    )


def _match_of(agents: tuple[int, int], piled: PairRows, totals: list[int]) -> Match:
    opening, way = piled.key // WAYS & (1 << OPENING_BITS) - 1, piled.key % WAYS
    halves, fair = way // 2, way % 2
    fresh = piled.times.copy() if _differs_on_repeats(opening, piled) else np.ones_like(piled.times)
    distinct, lost, won, margin, mover_margin, normal, identical = totals
    return Match(
        *agents,
        openings=opening.astype(np.int32),
        half_first=(halves // 3).astype(np.int8),
        half_second=(halves % 3).astype(np.int8),
        fair=fair > 0,
        times=piled.times.copy(),
        evidence_times=fresh,
        earliest=piled.earliest.copy(),
        distinct_games=distinct,
        forfeits=(lost, won),
        margin=margin,
        mover_margin=mover_margin,
        normal_games=normal,
        identical_pairs=identical,
    )


def _differs_on_repeats(opening: Ints, piled: PairRows) -> bool:
    """Return whether two pairs on the same opening ever differed.

    If not, the agents count as deterministic, and a repeated opening is no evidence.
    """
    return bool(piled.differ.any() or (opening[1:] == opening[:-1]).any())
