"""Plain counts of pairings, from which every estimate is computed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Wdl(NamedTuple):
    """Wins, draws and losses of one agent."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is one point, a draw half a point."""
        return self.wins + 0.5 * self.draws


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The results of one agent against its opponent, seen by the agent.

    `first` and `second` are its games as first and as second mover. `pentanomial` counts the
    pairings by points 0, 1/2, 1, 3/2, 2; `both_drawn` of the middle ones had two draws.
    `distinct_games` differ in their moves; None if games could not be told apart. In
    `identical_pairs` both games had the same moves; `same_player` is whether both agents are made
    alike; `first_mover_margin` is the mean of the first movers' final margins.
    """

    first: Wdl
    second: Wdl
    pentanomial: tuple[int, int, int, int, int]
    both_drawn: int
    openings: int
    largest_multiplicity: int
    distinct_games: int | None
    identical_pairs: int = 0
    same_player: bool = False
    first_mover_margin: float | None = None

    @property
    def identical(self) -> bool:
        """Whether both games of every pairing had the same moves."""
        return 0 < self.pairings == self.identical_pairs

    @property
    def pairings(self) -> int:
        """Complete pairings: one opening, both sides."""
        return sum(self.pentanomial)

    @property
    def games(self) -> int:
        """Two games for each pairing."""
        return 2 * self.pairings

    @property
    def total(self) -> Wdl:
        """Results of both seats together."""
        return Wdl(*(a + b for a, b in zip(self.first, self.second, strict=True)))

    @property
    def score(self) -> float | None:
        """Points per game, 0 to 1; None without games."""
        return self.total.points / self.games if self.games else None

    @property
    def first_mover_score(self) -> float | None:
        """Points per game of the first movers; None without games."""
        if not self.games:
            return None
        return (self.first.points + self.pairings - self.second.points) / self.games


def pair_counts(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    games: tuple[Sequence[object], Sequence[object]] | None = None,
    times: npt.ArrayLike | None = None,
) -> PairCounts:
    """Counts of pairings given by opening and the agent's score (0, 1/2, 1) in each seat.

    `games` names the game of each pairing in which the agent moved first, then the other one;
    `times` says how often a pairing stands there: once each without it.
    """
    first, second = _half_points(as_first), _half_points(as_second)
    often = np.ones(len(first), np.int64) if times is None else np.asarray(times, np.int64)
    drawn = int(often[(first == 1) & (second == 1)].sum())
    place = np.unique(np.asarray(openings), return_inverse=True)[1]
    multiplicity = np.bincount(place.ravel(), often)
    return PairCounts(
        first=_wdl(first, often),
        second=_wdl(second, often),
        pentanomial=_five(np.bincount(first + second, often, minlength=5)),
        both_drawn=drawn,
        openings=len(multiplicity),
        largest_multiplicity=int(multiplicity.max(initial=0)),
        distinct_games=None if games is None else sum(len(set(seat)) for seat in games),
    )


def mirrored(counts: PairCounts) -> PairCounts:
    """The same pairings, seen by the opponent."""
    return replace(
        counts,
        first=Wdl(*counts.second[::-1]),
        second=Wdl(*counts.first[::-1]),
        pentanomial=counts.pentanomial[::-1],
    )


def pair_scores(as_first: npt.ArrayLike, as_second: npt.ArrayLike) -> Floats:
    """Mean score of the two games of each pairing: 0, 1/4, 1/2, 3/4 or 1."""
    return (_half_points(as_first) + _half_points(as_second)) / 4.0


def first_mover_scores(as_first: npt.ArrayLike, as_second: npt.ArrayLike) -> Floats:
    """Mean score of the first movers in each pairing."""
    return (_half_points(as_first) + 2 - _half_points(as_second)) / 4.0


def first_pair_per_opening(openings: npt.ArrayLike) -> Ints:
    """Places of the first pairing on each opening, in schedule order.

    The other pairings on that opening are no new observation for a sequential test.
    """
    places = np.unique(np.asarray(openings), return_index=True)[1]
    return np.sort(places).astype(np.int64)


def _half_points(scores: npt.ArrayLike) -> Ints:
    doubled = 2.0 * np.asarray(scores, dtype=np.float64)
    halves = np.rint(doubled).astype(np.int64)
    if np.any((halves != doubled) | (halves < 0) | (halves > 2)):
        raise ValueError("a game's score must be 0, 0.5 or 1")
    return halves


def _wdl(half_points: Ints, often: Ints) -> Wdl:
    losses, draws, wins = np.bincount(half_points, often, minlength=3)
    return Wdl(int(wins), int(draws), int(losses))


def _five(counts: Ints | Floats) -> tuple[int, int, int, int, int]:
    ll, ld, even, wd, ww = (int(n) for n in counts)
    return ll, ld, even, wd, ww
