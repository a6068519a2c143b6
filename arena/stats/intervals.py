"""The interval of a score, for every sample size."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy.typing as npt

from arena.stats.estimate import Estimate, EstimateKind, Scope, no_estimate
from arena.stats.quantiles import normal_quantile, t_quantile
from arena.stats.spread import Spread, spread

# ln of the tilt: at these ends the mean is that of the scores, and 0.
_LEAST, _MOST = -40.0, 60.0
_ROUNDS = 200
_CLOSE = 1e-13  # of the logarithm of the tilt
_Point = tuple[float, float]  # the logarithm of a tilt, and by how much its root misses
ALIKE = "all pairings alike"
PERFECT = "every game had the same winner"
NO_GAMES = "no games"
NO_FAIR_PAIR = "no pair without a forfeit"
ONE_OPENING = "one opening: no inference"
FEW = "too few openings to bound anything"
CENSUS = "census"
UNVARIED = "no game varied"
# An end nearer to 0 or 1 is beyond 2,400 Elo and bounds nothing.
NO_BOUND = 1e-6
# A lost pairing is added at both ends of an interval: half of one each.
TWO_SIDED, ONE_SIDED = 0.5, 1.0
# At 95 % and n = K an opening that was not met is put at 0, as the lost pairing is; with more
# pairings nearer to the mean, by this power. The power 1 costs no more than the lost pairing and is
# too little, 1/2 puts both as many of their standard deviations away and is twice too wide.
NEARER = 0.75


class _Law:
    """Scores with their masses, the added loss among them."""

    def __init__(
        self, scores: Sequence[float], masses: Sequence[float], added: float, at: float
    ) -> None:
        """Leave out what was not seen."""
        seen = [(a, c) for a, c in zip(scores, masses, strict=True) if c > 0.0]
        self.lowest = min(at, min((a for a, _ in seen), default=at))
        self.atoms = [(a - self.lowest, c) for a, c in ((at, added), *seen)]
        self.total = sum(mass for _, mass in self.atoms)

    def _mean_above(self, tilt: float) -> float:
        points = total = 0.0
        for a, c in self.atoms:
            weight = c / (1.0 + tilt * a)
            points += a * weight
            total += weight
        return points / total

    def mean_at(self, tilt: float) -> float:
        """The mean when a score that is a above the lowest has its mass divided by 1 + tilt a."""
        return self.lowest + self._mean_above(tilt)

    def root_at(self, tilt: float) -> float:
        """The corrected signed root of the likelihood ratio of that mean; rises with the tilt."""
        mean = self._mean_above(tilt)
        ratio = -self.total * math.log1p(tilt * mean)
        slope = 0.0
        for a, c in self.atoms:
            ratio += c * math.log1p(tilt * a)
            slope += c * ((a - mean) / (1.0 + tilt * a)) ** 2
        root, leverage = math.sqrt(2.0 * max(ratio, 0.0)), tilt * math.sqrt(slope)
        if root < 1e-6 or leverage <= 0.0:
            return 0.0  # too near the mean to be told from it
        return root + math.log(leverage / root) / root


def empirical_likelihood_bound(
    scores: Sequence[float],
    masses: Sequence[float],
    quantile: float,
    added: float,
    at: float = 0.0,
) -> float:
    """The mean, below that of the scores, whose corrected root is `quantile`.

    `masses[i]` observations scored `scores[i]`, from 0 to 1, and `added` more scored `at`: half of
    one for the end of a two-sided interval, a whole one for a one-sided bound.
    """
    law = _Law(scores, masses, added, at)

    # At a half the end is the limit of those above it: roots too near the mean are told as 0.
    quantile = max(quantile, _CLOSE)

    def missed(ln_tilt: float) -> _Point:
        return ln_tilt, law.root_at(math.exp(ln_tilt)) - quantile

    most = missed(_MOST)
    if most[1] <= 0.0:
        return law.lowest
    return law.mean_at(math.exp(_crossing(missed, (_LEAST, -quantile), most)))


def _crossing(missed: Callable[[float], _Point], below: _Point, above: _Point) -> float:
    """Where a rising function reaches 0, between a point below and one that is not.

    Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function without using derivatives" (1997): a dozen steps where halving needs fifty.
    """
    newest, other, last, share = below, above, below, 0.5
    for _ in range(_ROUNDS):
        point = missed(newest[0] + share * (other[0] - newest[0]))
        if (point[1] < 0.0) == (newest[1] < 0.0):
            last = newest
        else:
            last, other = other, newest
        newest, width = point, abs(other[0] - point[0])
        least = _CLOSE * max(1.0, abs(other[0])) / width if width else 1.0
        if least > 0.5 or newest[1] == 0.0:
            break
        share = min(1.0 - least, max(least, _next_share(newest, other, last)))
    return newest[0] if newest[1] >= 0.0 else other[0]


def _next_share(newest: _Point, other: _Point, last: _Point) -> float:
    """How far to go from the newest point to the other: by the parabola, if it is of any use."""
    (a, at_a), (b, at_b), (c, at_c) = newest, other, last
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if phi**2 >= xi or (1.0 - phi) ** 2 >= 1.0 - xi:
        return 0.5
    straight = at_a / (at_b - at_a) * at_c / (at_b - at_c)
    return straight + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)


class Ends(NamedTuple):
    """Both ends of an interval; 0 and 1 set no bound."""

    low: float
    high: float


def interval(found: Spread, tail: float) -> Ends:
    """Interval that leaves out `tail` on each side; `found` must allow one."""
    return Ends(
        _lower(found, tail, TWO_SIDED), 1.0 - _lower(_from_other_side(found), tail, TWO_SIDED)
    )


def lower_bound(found: Spread, level: float = 0.95) -> float:
    """Return the one-sided lower bound of a score; 0 if the results set none.

    It is at least the lower end of the interval of the same level, which says more. At half the
    tail it may be lower than that end: an interval can make up at one end for what the other
    misses, and adds half a lost pairing at each; a bound has one end and adds a whole one.
    """
    if not has_interval(found):
        return 0.0
    tail = 1.0 - level
    return max(_lower(found, tail, ONE_SIDED), _lower(found, tail / 2.0, TWO_SIDED))


def has_interval(found: Spread) -> bool:
    """Whether anything can be said of more than the games played."""
    return found.pairings > 0 and (found.scope is Scope.THESE or found.openings > 1)


def _lower(found: Spread, tail: float, added: float) -> float:
    # What was not seen in M independent observations has a share below 1 - tail^(1/M).
    unseen = 1.0 - math.pow(tail, 1.0 / found.alike)
    if found.variance == 0.0:
        return found.mean * (1.0 - unseen)
    if found.se == 0.0 and found.scope is Scope.THESE:
        return max(found.mean - unseen, 0.0)  # each opening is alike, but not all of them
    quantile = t_quantile(1.0 - tail, found.dof)
    low = empirical_likelihood_bound(found.scores, found.masses, quantile, added)
    if found.opening_masses:
        low = min(low, _lower_of_openings(found, tail, added))
    return low if low > NO_BOUND else 0.0


def _lower_of_openings(found: Spread, tail: float, added: float) -> float:
    """The same end with openings for observations, one of them not met yet.

    Rare bad openings skew the sum of noisy pairings as much as that of so many openings: the end
    by pairings is too high where few openings carry what was lost.
    """
    side = tail * TWO_SIDED / added  # the tail of an interval of this level
    openings = sum(found.opening_masses) / found.effective_pairings
    farther = (normal_quantile(1.0 - side) / normal_quantile(0.975)) ** 2
    at = found.mean * (1.0 - min((farther * openings) ** NEARER, 1.0))
    return empirical_likelihood_bound(
        found.opening_scores, found.opening_masses, t_quantile(1.0 - tail, found.dof), added, at
    )


def _from_other_side(found: Spread) -> Spread:
    mirrored = tuple(1.0 - score for score in found.scores)
    openings = tuple(1.0 - score for score in found.opening_scores)
    return found._replace(mean=1.0 - found.mean, scores=mirrored, opening_scores=openings)


def estimate_from_spread(found: Spread, level: float = 0.95) -> Estimate:
    """Score with its interval, by section 1 of the reference."""
    if found.pairings == 0:
        return no_estimate(NO_GAMES, level=level)
    if not has_interval(found):
        return no_estimate(ONE_OPENING, found.mean, level)
    alpha = 1.0 - level
    if found.mean in (0.0, 1.0):
        # Clopper and Pearson at the end of the scale; exact for any score in [0, 1].
        bound = alpha ** (1.0 / found.alike)
        low, high = (bound, None) if found.mean == 1.0 else (None, 1.0 - bound)
        return Estimate(found.mean, low, high, level, EstimateKind.FIXED, PERFECT, found.scope)
    ends = interval(found, 0.5 * alpha)
    low = ends.low if ends.low > 0.0 else None
    high = ends.high if ends.high < 1.0 else None
    reason = ALIKE if found.variance == 0.0 else ""
    if low is None and high is None:
        reason = FEW
    return Estimate(found.mean, low, high, level, EstimateKind.FIXED, reason, found.scope)


def census_estimate(value: float, level: float = 0.95) -> Estimate:
    """The score of a pair without chance on exactly its openings: no error is left."""
    return Estimate(value, None, None, level, EstimateKind.CENSUS, CENSUS, Scope.THESE)


def no_variation_estimate(value: float, repeats: int, level: float = 0.95) -> Estimate:
    """The score of exactly these openings where none of `repeats` repeated games varied.

    The share of games that do vary is then below 1 - alpha^(1/n), and they may end as they like.
    """
    varying = 1.0 - (1.0 - level) ** (1.0 / repeats)
    low, high = value * (1.0 - varying), value + varying * (1.0 - value)
    reason = f"{UNVARIED} in {repeats:,} repeats: at most {100 * varying:.2g} % do"
    return Estimate(
        value,
        low if low > 0.0 else None,
        high if high < 1.0 else None,
        level,
        EstimateKind.FIXED,
        reason,
        Scope.THESE,
    )


def score_estimate(
    openings: npt.ArrayLike,
    scores: npt.ArrayLike,
    level: float = 0.95,
    census: bool = False,
    times: npt.ArrayLike | None = None,
) -> Estimate:
    """Score with its interval for openings like these, from one score per pairing.

    A `census` is every opening of a finite set, played by a deterministic pair.
    """
    found = spread(openings, scores, times)
    return census_estimate(found.mean, level) if census else estimate_from_spread(found, level)
