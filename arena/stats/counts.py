"""Counts of pairs, from which every estimate is computed."""

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
        """Return the number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Return the points: 1 for a win, 1/2 for a draw."""
        return self.wins + 0.5 * self.draws


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The results of one agent against an opponent, from the agent's side.

    `first` and `second` are its games as first and as second mover. `pentanomial` counts pairs by
    their points: 0, 1/2, 1, 3/2 and 2. `distinct_games` differ in their moves; it is None if games
    are not identified. In `identical_pairs` both games had the same moves. `same_player` is true
    if both agents have the same settings. `first_mover_margin` is the mean final margin of the
    first movers.
    """

    first: Wdl
    second: Wdl
    pentanomial: tuple[int, int, int, int, int]
    openings: int
    largest_multiplicity: int
    distinct_games: int | None = None
    identical_pairs: int = 0
    same_player: bool = False
    first_mover_margin: float | None = None

    @property
    def is_identical(self) -> bool:
        """Return whether both games of every pair had the same moves."""
        return 0 < self.pairs == self.identical_pairs

    @property
    def pairs(self) -> int:
        """Return the number of complete pairs: one opening, both sides."""
        return sum(self.pentanomial)

    @property
    def games(self) -> int:
        """Return the number of games, two for each pair."""
        return 2 * self.pairs

    @property
    def total(self) -> Wdl:
        """Return the results as first and as second mover together."""
        return Wdl(*(a + b for a, b in zip(self.first, self.second, strict=True)))

    @property
    def score(self) -> float | None:
        """Return the points per game, 0 to 1; None without games."""
        return self.total.points / self.games if self.games else None

    @property
    def first_mover_score(self) -> float | None:
        """Return the points per game of the first movers; None without games."""
        if not self.games:
            return None
        return (self.first.points + self.pairs - self.second.points) / self.games


def pair_counts(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
) -> PairCounts:
    """Count pairs given by opening and the agent's score (0, 1/2, 1) in each game of the pair.

    Row i occurs `times[i]` times, once by default.
    """
    first, second = _half_points(as_first), _half_points(as_second)
    often = np.ones(len(first), np.int64) if times is None else np.asarray(times, np.int64)
    place = np.unique(np.asarray(openings), return_inverse=True)[1]
    multiplicity = np.bincount(place.ravel(), often)
    return PairCounts(
        first=_wdl(first, often),
        second=_wdl(second, often),
        pentanomial=_five(np.bincount(first + second, often, minlength=5)),
        openings=len(multiplicity),
        largest_multiplicity=int(multiplicity.max(initial=0)),
    )


def mirror_counts(counts: PairCounts) -> PairCounts:
    """Return the same pairs from the opponent's side."""
    return replace(
        counts,
        first=Wdl(*counts.second[::-1]),
        second=Wdl(*counts.first[::-1]),
        pentanomial=counts.pentanomial[::-1],
    )


def pair_scores(as_first: npt.ArrayLike, as_second: npt.ArrayLike) -> Floats:
    """Return the mean score of the two games of each pair: 0, 1/4, 1/2, 3/4 or 1."""
    return (_half_points(as_first) + _half_points(as_second)) / 4.0


def first_mover_scores(as_first: npt.ArrayLike, as_second: npt.ArrayLike) -> Floats:
    """Return the mean score of the first movers in each pair."""
    return (_half_points(as_first) + 2 - _half_points(as_second)) / 4.0


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
