"""The interval on a score: one rule for every score, question and level."""

import math
from typing import NamedTuple

import numpy.typing as npt

from arena.stats.added_loss import lower_end
from arena.stats.clusters import Spread, spread
from arena.stats.estimate import Estimate, EstimateKind, Scope, nothing
from arena.stats.quantiles import normal_quantile, t_quantile

ALIKE = "all pairings alike"
PERFECT = "every game had the same winner"
NO_GAMES = "no games"
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
    """One-sided lower bound of a score; 0 if the results set none."""
    return _lower(found, 1.0 - level, ONE_SIDED) if allows_interval(found) else 0.0


def allows_interval(found: Spread) -> bool:
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
    low = lower_end(found.scores, found.masses, quantile, added)
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
    # A one-sided bound is not below the end of the interval.
    return max(
        lower_end(
            found.opening_scores, found.opening_masses, t_quantile(1.0 - t, found.dof), lost, at
        )
        for t, lost in {(tail, added), (side, TWO_SIDED)}
    )


def _from_other_side(found: Spread) -> Spread:
    mirrored = tuple(1.0 - score for score in found.scores)
    openings = tuple(1.0 - score for score in found.opening_scores)
    return found._replace(mean=1.0 - found.mean, scores=mirrored, opening_scores=openings)


def estimate_from_spread(found: Spread, level: float = 0.95) -> Estimate:
    """Score with its interval, by section 1 of the reference."""
    if found.pairings == 0:
        return nothing(NO_GAMES, level=level)
    if not allows_interval(found):
        return nothing(ONE_OPENING, found.mean, level)
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


def exact(value: float, level: float = 0.95) -> Estimate:
    """The score of a pair without chance on exactly its openings: no error is left."""
    return Estimate(value, None, None, level, EstimateKind.CENSUS, CENSUS, Scope.THESE)


def unvaried(value: float, repeats: int, level: float = 0.95) -> Estimate:
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
    return exact(found.mean, level) if census else estimate_from_spread(found, level)
