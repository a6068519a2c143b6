"""The rating of a newcomer by pairs against anchors, whose ratings have known errors.

Quasi-likelihood of pair scores (McCullagh, "Quasi-likelihood functions", 1983): the expected score
is logistic in the rating, the variance is proportional to that of a single game, and the scores
show the factor. Intervals invert the score test, so a newcomer that wins or loses all has a bound.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arena.stats.anytime import PAIR_SCORES
from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import NO_GAMES
from arena.stats.quantiles import t_quantile

# The dispersion of a pair of independent games without draws; it is 1 for a pair of equal games.
USUAL_DISPERSION, USUAL_PAIRS = 0.5, 4.0
FARTHEST = 4000.0  # Elo beyond the anchors
BISECTIONS, INTERPOLATIONS = 10, 6  # to find a root
DECIMALS = 6  # of Elo; further digits depend on the order of summation
ALL_WON, ALL_LOST = "it won every game", "it lost every game"
FIRST_PAIRS, SHARE = 4, 4  # the first meetings have 4 pairs, later ones a quarter of all before
ONE_SIDED = 30  # pairs against the first or last anchor that show a newcomer beyond the scale
PRIOR_ELO = 800.0  # the spread of newcomers around the middle, to choose opponents only


class Anchors(NamedTuple):
    """Ratings in Elo and the covariance of their errors."""

    elo: Floats
    covariance: Floats

    def chances(self, elo: float) -> Floats:
        """Return the expected score against each anchor at this rating."""
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * NATURAL * (elo - self.elo)))

    def slopes(self, pairs: Ints, elo: float) -> Floats:
        """Return the information of the pairs against each anchor, per unit of dispersion."""
        chances = self.chances(elo)
        return np.asarray(pairs * chances * (1.0 - chances))

    def error(self, slopes: Floats, dispersion: float) -> float:
        """Return the standard error of the sum of the newcomer's points."""
        shift = NATURAL**2 * float(slopes @ self.covariance @ slopes)
        return math.sqrt(dispersion * float(slopes.sum()) + shift)


def placement(anchors: Anchors, counts: Ints, level: float = 0.95) -> Estimate:
    """Return the rating of a newcomer; its interval includes the errors of the anchors.

    `counts` has a row for each anchor: its pairs by the newcomer's score 0, 1/4, 1/2, 3/4, 1.
    """
    pairs, points = counts.sum(axis=1), counts @ np.array(PAIR_SCORES)
    total = int(pairs.sum())
    if not total:
        return no_estimate(NO_GAMES, level=level)

    def excess(elo: float) -> float:
        return float(points.sum() - pairs @ anchors.chances(elo))

    won, lost = points.sum() == total, points.sum() == 0.0
    value = None if won or lost else _root(excess, anchors)
    dispersion = 1.0 if value is None else _dispersion(anchors, counts, value)
    limit = t_quantile(0.5 + 0.5 * level, total - 1.0 + USUAL_PAIRS)

    def deviation(elo: float) -> float:
        return excess(elo) / anchors.error(anchors.slopes(pairs, elo), dispersion)

    low = None if lost else _root(lambda elo: deviation(elo) - limit, anchors)
    high = None if won else _root(lambda elo: deviation(elo) + limit, anchors)
    reason = ALL_WON if won else ALL_LOST if lost else ""
    return Estimate(value, low, high, level, EstimateKind.FIXED, reason)


def _root(falling: Callable[[float], float], anchors: Anchors) -> float:
    """Return where a function is zero: by bisection, then by false position."""
    low, high = float(anchors.elo.min()) - FARTHEST, float(anchors.elo.max()) + FARTHEST
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    above, below = falling(low), falling(high)
    for _ in range(INTERPOLATIONS):
        if above <= 0.0 or below >= 0.0:  # one of the ends is the root
            break
        middle = low + (high - low) * above / (above - below)
        value = falling(middle)
        if value > 0.0:
            low, above = middle, value
        else:
            high, below = middle, value
    return round(low if above < -below else high, DECIMALS)


def _dispersion(anchors: Anchors, counts: Ints, elo: float) -> float:
    """Return the variance of pair scores relative to that of a game (Pearson's estimate)."""
    chances, pairs = anchors.chances(elo), counts.sum(axis=1)
    squares = (counts * (np.array(PAIR_SCORES) - chances[:, None]) ** 2).sum()
    slopes = anchors.slopes(pairs, elo).sum()
    usual = USUAL_PAIRS * slopes / pairs.sum()
    return float((squares + usual * USUAL_DISPERSION) / (slopes + usual))


def next_anchor(anchors: Anchors, counts: Ints, pairs: int) -> int:
    """Return the anchor against which this number of pairs leaves the smallest variance."""
    elo, played = _rough_rating(anchors, counts), counts.sum(axis=1)
    variances = []
    for extra in np.eye(len(anchors.elo)):
        slopes = anchors.slopes(played + pairs * extra, elo)
        variances.append(anchors.error(slopes, USUAL_DISPERSION) / slopes.sum())
    return int(np.argmin(np.round(variances, DECIMALS)))


def _rough_rating(anchors: Anchors, counts: Ints) -> float:
    """Return a finite rating after any results, drawn towards the middle of the anchors."""
    pairs, points = counts.sum(axis=1), float((counts @ np.array(PAIR_SCORES)).sum())
    middle = 0.5 * float(anchors.elo.min() + anchors.elo.max())

    def gain(elo: float) -> float:
        pull = USUAL_DISPERSION * (elo - middle) / (NATURAL * PRIOR_ELO**2)
        return points - float(pairs @ anchors.chances(elo)) - pull

    return _root(gain, anchors)


def next_pairs(counts: Ints, most: int, width: float, found: Estimate) -> int:
    """Return how many pairs come next: as many as `width` needs, in growing portions.

    0 if the interval is narrow enough, if it has one end only and that is certain, or if all of the
    `most` pairs are played.
    """
    total = int(counts.sum())
    if (found.reason == ALL_WON and counts[-1].sum() >= ONE_SIDED) or (
        found.reason == ALL_LOST and counts[0].sum() >= ONE_SIDED
    ):
        return 0
    size = max(FIRST_PAIRS, total // SHARE)
    if total and (half := half_width(found)) is not None:
        if half <= width and total >= FIRST_PAIRS * SHARE:
            return 0
        size = min(size, max(FIRST_PAIRS, math.ceil(total * (half / width) ** 2) - total))
    return min(size, most - total)


def half_width(found: Estimate) -> float | None:
    """Return half the width of an interval; None if an end is unknown."""
    if found.low is None or found.high is None:
        return None
    return 0.5 * (found.high - found.low)
