"""The interval of a score, for every sample size."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy.typing as npt

from arena.stats.estimate import (
    FEW_OPENINGS,
    Estimate,
    EstimateKind,
    Scope,
    few_openings_text,
    no_estimate,
)
from arena.stats.quantiles import normal_quantile, t_quantile
from arena.stats.spread import Spread, spread

# Range of the logarithm of the tilt: at these ends the mean is that of the scores, and 0.
_MIN_LOG_TILT, _MAX_LOG_TILT = -40.0, 60.0
_MAX_STEPS = 200
_TOLERANCE = 1e-13  # relative, of the logarithm of the tilt
_Step = tuple[float, float]  # the logarithm of a tilt, and the error of its root
EQUAL_SCORES = "all pairs alike"
ONE_WINNER = "every game had the same winner"
NO_GAMES = "no games"
NO_FAIR_PAIR = "no pair without a forfeit"
ONE_OPENING = "one opening: no inference"
DOMINANT_OPENING = "no bound: one opening has most of the pairs"
CENSUS = "census"
NO_VARIATION = "no game varied"
# An end closer to 0 or 1 is beyond 2,400 Elo and useless as a bound.
MIN_END = 1e-6
# A lost pair is added: half of one at each end of an interval, a whole one for a bound.
TWO_SIDED, ONE_SIDED = 0.5, 1.0
# An opening that was not drawn is added, too. At 95 % and n = K it scores 0, as the lost pair does;
# with more pairs it scores closer to the mean, by this power. Power 1 widens intervals too little,
# power 1/2 twice too much.
OPENING_POWER = 0.75


class _WeightedScores:
    """Scores with their masses, including the added loss."""

    def __init__(
        self, scores: Sequence[float], masses: Sequence[float], added: float, at: float
    ) -> None:
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
        """Return the mean with the mass of a score a above the lowest divided by 1 + tilt a."""
        return self.lowest + self._mean_above(tilt)

    def root_at(self, tilt: float) -> float:
        """Return the corrected signed root of that mean's likelihood ratio; rises with the tilt."""
        mean = self._mean_above(tilt)
        ratio = -self.total * math.log1p(tilt * mean)
        slope = 0.0
        for a, c in self.atoms:
            ratio += c * math.log1p(tilt * a)
            slope += c * ((a - mean) / (1.0 + tilt * a)) ** 2
        root, leverage = math.sqrt(2.0 * max(ratio, 0.0)), tilt * math.sqrt(slope)
        if root < 1e-6 or leverage <= 0.0:
            return 0.0  # indistinguishable from the mean
        return root + math.log(leverage / root) / root


def empirical_likelihood_bound(
    scores: Sequence[float],
    masses: Sequence[float],
    quantile: float,
    added: float,
    at: float = 0.0,
) -> float:
    """Return the mean, below that of the scores, whose corrected root is `quantile`.

    `masses[i]` observations have the score `scores[i]`, from 0 to 1, and `added` more have the
    score `at`.
    """
    law = _WeightedScores(scores, masses, added, at)

    # Roots close to the mean are returned as 0, so a quantile of 0 would find none.
    quantile = max(quantile, _TOLERANCE)

    def error_at(ln_tilt: float) -> _Step:
        return ln_tilt, law.root_at(math.exp(ln_tilt)) - quantile

    most = error_at(_MAX_LOG_TILT)
    if most[1] <= 0.0:
        return law.lowest
    return law.mean_at(math.exp(_find_root(error_at, (_MIN_LOG_TILT, -quantile), most)))


def _find_root(error_at: Callable[[float], _Step], below: _Step, above: _Step) -> float:
    """Find the root of a rising function between a point below 0 and one that is not.

    Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function without using derivatives" (1997): a dozen steps instead of fifty halvings.
    """
    newest, other, last, share = below, above, below, 0.5
    for _ in range(_MAX_STEPS):
        point = error_at(newest[0] + share * (other[0] - newest[0]))
        if (point[1] < 0.0) == (newest[1] < 0.0):
            last = newest
        else:
            last, other = other, newest
        newest, width = point, abs(other[0] - point[0])
        least = _TOLERANCE * max(1.0, abs(other[0])) / width if width else 1.0
        if least > 0.5 or newest[1] == 0.0:
            break
        share = min(1.0 - least, max(least, _next_share(newest, other, last)))
    return newest[0] if newest[1] >= 0.0 else other[0]


def _next_share(newest: _Step, other: _Step, last: _Step) -> float:
    """Return the next step as a share of the bracket: parabolic if that is safe, else one half."""
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
    """Return the interval that excludes `tail` on each side; `found` must allow one."""
    return Ends(
        _lower_end(found, tail, TWO_SIDED), 1.0 - _lower_end(_mirror(found), tail, TWO_SIDED)
    )


def lower_bound(found: Spread, level: float = 0.95) -> float:
    """Return the one-sided lower bound of a score; 0 if the results set none.

    It is at least the lower end of the two-sided interval of the same level. Its own value at half
    the tail could be lower, because a bound adds a whole lost pair to one end, an interval half of
    one to each.
    """
    if not has_interval(found):
        return 0.0
    tail = 1.0 - level
    return max(_lower_end(found, tail, ONE_SIDED), _lower_end(found, tail / 2.0, TWO_SIDED))


def has_interval(found: Spread) -> bool:
    """Return whether the results allow a conclusion beyond the games played."""
    return found.pairs > 0 and (found.scope is Scope.THESE or found.openings > 1)


def _lower_end(found: Spread, tail: float, added: float) -> float:
    # A result that M independent observations do not show has a share below 1 - tail^(1/M).
    unseen = 1.0 - math.pow(tail, 1.0 / found.units)
    if found.variance == 0.0:
        return found.mean * (1.0 - unseen)
    if found.se == 0.0 and found.scope is Scope.THESE:
        return max(found.mean - unseen, 0.0)  # openings differ, pairs on one opening do not
    quantile = t_quantile(1.0 - tail, found.dof)
    low = empirical_likelihood_bound(found.scores, found.score_masses, quantile, added)
    if found.opening_masses:
        low = min(low, _lower_end_by_openings(found, tail, added))
    return low if low > MIN_END else 0.0


def _lower_end_by_openings(found: Spread, tail: float, added: float) -> float:
    """Return the lower end with openings as observations, one of them not drawn yet.

    Rare bad openings skew the sum of noisy pairs as much as that of openings: the end by pairs is
    too high if few openings carry the losses.
    """
    side = tail * TWO_SIDED / added  # the tail of an interval of this level
    openings = sum(found.opening_masses) / found.effective_pairs
    farther = (normal_quantile(1.0 - side) / normal_quantile(0.975)) ** 2
    at = found.mean * (1.0 - min((farther * openings) ** OPENING_POWER, 1.0))
    return empirical_likelihood_bound(
        found.opening_scores, found.opening_masses, t_quantile(1.0 - tail, found.dof), added, at
    )


def _mirror(found: Spread) -> Spread:
    mirrored = tuple(1.0 - score for score in found.scores)
    openings = tuple(1.0 - score for score in found.opening_scores)
    return found._replace(mean=1.0 - found.mean, scores=mirrored, opening_scores=openings)


def estimate_from_spread(found: Spread, level: float = 0.95) -> Estimate:
    """Return the score with its interval."""
    if found.pairs == 0:
        return no_estimate(NO_GAMES, level=level)
    if not has_interval(found):
        return no_estimate(ONE_OPENING, found.mean, level)
    alpha = 1.0 - level
    if found.mean in (0.0, 1.0):
        # Clopper and Pearson at the end of the scale; exact for any score in [0, 1].
        bound = alpha ** (1.0 / found.units)
        low, high = (bound, None) if found.mean == 1.0 else (None, 1.0 - bound)
        return Estimate(found.mean, low, high, level, EstimateKind.FIXED, ONE_WINNER, found.scope)
    ends = interval(found, 0.5 * alpha)
    low = ends.low if ends.low > 0.0 else None
    high = ends.high if ends.high < 1.0 else None
    reason = EQUAL_SCORES if found.variance == 0.0 else ""
    if low is None and high is None:
        few = found.openings < FEW_OPENINGS
        reason = few_openings_text(found.openings) if few else DOMINANT_OPENING
    return Estimate(found.mean, low, high, level, EstimateKind.FIXED, reason, found.scope)


def census_estimate(value: float, level: float = 0.95) -> Estimate:
    """Return the score of agents without chance on all openings: it has no error."""
    return Estimate(value, None, None, level, EstimateKind.CENSUS, CENSUS, Scope.THESE)


def no_variation_estimate(value: float, repeats: int, level: float = 0.95) -> Estimate:
    """Return the score of exactly these openings if none of `repeats` repeated games varied.

    The share of games that vary is then below 1 - alpha^(1/n), and these may have any result.
    """
    varying = 1.0 - (1.0 - level) ** (1.0 / repeats)
    low, high = value * (1.0 - varying), value + varying * (1.0 - value)
    reason = f"{NO_VARIATION} in {repeats:,} repeats: at most {100 * varying:.2g} % do"
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
    """Return the score with its interval for openings like these, from one score per pair.

    A `census` is every opening of a finite set, played by a deterministic pair of agents.
    """
    found = spread(openings, scores, times)
    return census_estimate(found.mean, level) if census else estimate_from_spread(found, level)
