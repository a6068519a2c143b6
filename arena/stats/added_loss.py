"""The lower end for a mean score: empirical likelihood with one lost observation added.

The likelihood ratio is Owen's ("Empirical likelihood ratio confidence intervals for a single
functional"); its signed root is corrected after Lugannani and Rice ("Saddle point approximation
for the distribution of the sum of independent random variables"). The added loss stands for what
was not seen yet, an idea of Gaffke and of Learned-Miller and Thomas ("A new confidence interval
for the mean of a bounded random variable"): on wins and losses alone the result is the interval
of Clopper and Pearson.
"""

import math
from collections.abc import Callable, Sequence

# ln of the tilt: at these ends the mean is that of the scores, and 0.
_LEAST, _MOST = -40.0, 60.0
_ROUNDS = 200
_CLOSE = 1e-13  # of the logarithm of the tilt

_Point = tuple[float, float]  # the logarithm of a tilt, and by how much its root misses


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


def lower_end(
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
