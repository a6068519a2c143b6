"""The lower end for a mean score: empirical likelihood with one lost observation added.

The likelihood ratio is Owen's ("Empirical likelihood ratio confidence intervals for a single
functional"); its signed root is corrected after Lugannani and Rice ("Saddle point approximation
for the distribution of the sum of independent random variables"). The added loss stands for what
was not seen yet, an idea of Gaffke and of Learned-Miller and Thomas ("A new confidence interval
for the mean of a bounded random variable"): on wins and losses alone the result is the interval
of Clopper and Pearson.
"""

import math
from collections.abc import Sequence

# ln of the tilt: at these ends the mean is that of the scores, and 0.
_LEAST, _MOST = -40.0, 60.0
_ROUNDS = 200


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
        weights = [(a, c / (1.0 + tilt * a)) for a, c in self.atoms]
        return sum(a * w for a, w in weights) / sum(w for _, w in weights)

    def mean_at(self, tilt: float) -> float:
        """The mean when a score that is a above the lowest has its mass divided by 1 + tilt a."""
        return self.lowest + self._mean_above(tilt)

    def root_at(self, tilt: float) -> float:
        """The corrected signed root of the likelihood ratio of that mean; rises with the tilt."""
        mean = self._mean_above(tilt)
        ratio = sum(c * math.log1p(tilt * a) for a, c in self.atoms)
        ratio -= self.total * math.log1p(tilt * mean)
        slope = sum(c * ((a - mean) / (1.0 + tilt * a)) ** 2 for a, c in self.atoms)
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
    low, high = _LEAST, _MOST
    below, above = -quantile, law.root_at(math.exp(high)) - quantile
    if above <= 0.0:
        return law.lowest
    # Regula falsi on the logarithm of the tilt, halving what does not move (Illinois); every
    # third step halves the interval.
    for step in range(_ROUNDS):
        middle = 0.5 * (low + high)
        if step % 3 and below < 0.0:
            middle = (low * above - high * below) / (above - below)
        miss = law.root_at(math.exp(middle)) - quantile
        if miss < 0.0:
            low, below, above = middle, miss, above / 2.0
        else:
            high, above, below = middle, miss, below / 2.0
        if high - low < 1e-13 * max(1.0, abs(high)) or miss == 0.0:
            break
    return law.mean_at(math.exp(high))
