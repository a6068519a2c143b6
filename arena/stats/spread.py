"""Mean score with a cluster-robust error and the effective sample size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.estimate import Scope

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Spread(NamedTuple):
    """A mean score with its standard error, about openings like these or exactly these.

    `openings` is K, `pairs` is N. `se` is 0 if nothing varied; `dof` is 0 if there is no estimate
    of the variance. `variance` is that of the pair scores, divisor N; `shares[i]` of them are
    `scores[i]`. `effective_pairs` is the number of independent pairs with the same error.
    `opening_masses[i]` independent openings have the mean `opening_scores[i]`; both are empty
    unless pairs on one opening differ, which makes n larger than the number of openings.
    """

    scope: Scope
    openings: int
    pairs: int
    mean: float
    variance: float
    se: float
    dof: float
    scores: tuple[float, ...]
    shares: tuple[float, ...]
    effective_pairs: float
    opening_scores: tuple[float, ...] = ()
    opening_masses: tuple[float, ...] = ()

    @property
    def score_masses(self) -> list[float]:
        """Return the number of independent pairs with each score."""
        return [self.effective_pairs * share for share in self.shares]

    @property
    def units(self) -> int:
        """Return the number of independent observations if all scores are equal."""
        return self.openings if self.scope is Scope.LIKE else self.pairs


class OpeningSums(NamedTuple):
    """Number of pairs, scores and squared scores, summed by opening."""

    sizes: Ints
    points: Floats
    squares: Floats


def spread(
    openings: npt.ArrayLike, scores: npt.ArrayLike, times: npt.ArrayLike | None = None
) -> Spread:
    """Return the spread of scores in [0, 1], one per pair, for openings like these.

    Score i occurs `times[i]` times, once by default.

    The standard error is CR2 for a mean; degrees of freedom are those of Bell and McCaffrey, "Bias
    reduction in standard errors for linear regression with multi-stage samples" (2002).
    """
    values = _scores(scores)
    if len(values) == 0:
        return Spread(Scope.LIKE, 0, 0, 0.0, 0.0, 0.0, 0.0, (), (), 0.0)
    often = _repeat_counts(times, values)
    return spread_from_sums(_sum_by_opening(openings, values, often), *_score_counts(values, often))


def spread_from_sums(by: OpeningSums, law: tuple[float, ...], seen: Ints) -> Spread:
    """Return the spread from sums by opening; `seen[i]` of all pairs scored `law[i]`."""
    total, mean, variance = _moments(by)
    shares = tuple((seen / total).tolist())
    if len(by.sizes) == 1:
        return Spread(Scope.LIKE, 1, total, mean, variance, 0.0, 0.0, law, shares, 1.0)
    share = by.sizes / total
    errors = by.points - by.sizes * mean
    # Rounding leaves tiny errors where exact scores have none.
    errors[np.abs(errors) < 1e-9 * by.sizes] = 0.0
    se = float(np.sqrt((np.square(errors) / (1.0 - share)).sum())) / total
    effective = _limit_effective(
        by, mean, _effective_pairs(variance, total, se, float(len(by.sizes)))
    )
    return Spread(
        Scope.LIKE, len(by.sizes), total, mean, variance, se, _bell_mccaffrey(share), law, shares,
        effective, *_opening_masses(by, mean, se, effective),
    )  # fmt: skip


def spread_fixed_openings(
    openings: npt.ArrayLike, scores: npt.ArrayLike, times: npt.ArrayLike | None = None
) -> Spread | None:
    """Return the spread for exactly these openings, weighted by their pairs; None without repeats.

    Pairs on one opening count as independent, because the agents use chance.
    """
    values = _scores(scores)
    if len(values) == 0:
        return None
    often = _repeat_counts(times, values)
    by = _sum_by_opening(openings, values, often)
    again = by.sizes > 1
    if not again.any():
        return None
    total, mean, variance = _moments(by)
    law, seen = _score_counts(values, often)
    inside, dofs = _variance_within(by, again)
    parts = np.square(by.sizes / total) * inside / by.sizes
    error = float(parts.sum())
    dof = error**2 / float((np.square(parts) / dofs).sum()) if error > 0.0 else 0.0
    effective = _effective_pairs_of_these(variance, total, error)
    return Spread(
        Scope.THESE, len(by.sizes), total, mean, variance, error**0.5, dof, law,
        tuple((seen / total).tolist()), effective,
    )  # fmt: skip


def _sum_by_opening(openings: npt.ArrayLike, values: Floats, often: Ints | None) -> OpeningSums:
    _, cluster, sizes = np.unique(np.asarray(openings), return_inverse=True, return_counts=True)
    cluster = cluster.ravel()
    each = values, np.square(values)
    if often is not None:
        sizes = np.bincount(cluster, often).astype(np.int64)
        each = each[0] * often, each[1] * often
    points, squares = (np.bincount(cluster, amounts).astype(np.float64) for amounts in each)
    return OpeningSums(sizes, points, squares)


def _moments(by: OpeningSums) -> tuple[int, float, float]:
    total, points = int(by.sizes.sum()), float(by.points.sum())
    # Sums of quarters are exact, so they do not depend on the order of the pairs.
    variance = max(total * float(by.squares.sum()) - points**2, 0.0) / total**2
    return total, points / total, variance


def _score_counts(values: Floats, often: Ints | None) -> tuple[tuple[float, ...], Ints]:
    """Return the scores that occur and how often each occurs."""
    quarters = np.rint(4.0 * values).astype(np.int64)
    if np.array_equal(quarters, 4.0 * values):
        return QUARTERS, np.bincount(quarters, often, minlength=5).astype(np.int64)
    law, place = np.unique(values, return_inverse=True)
    return tuple(law.tolist()), np.bincount(place.ravel(), often).astype(np.int64)


def _effective_pairs(variance: float, total: int, se: float, alike: float) -> float:
    """Return the number of independent pairs with this error, from 1 to `total`."""
    if variance == 0.0:
        return alike
    if se == 0.0:
        return float(total)
    return min(max(variance * total / (total - 1) / se**2, 1.0), float(total))


def _limit_effective(by: OpeningSums, mean: float, effective: float) -> float:
    """Reduce the effective pairs if few openings carry the scarcer points.

    Rare bad openings may not have been drawn yet: K^(1 - b) n^b replaces n, with b from 0 (one
    opening carries all of them) to 1 (four or more).
    """
    openings = float(len(by.sizes))
    if effective <= openings:
        return effective
    trust = min(max((_carrying_openings(by, mean) - 1.0) / 3.0, 0.0), 1.0)
    return float(openings ** (1.0 - trust) * effective**trust)


def _carrying_openings(by: OpeningSums, mean: float) -> float:
    """Return how many openings carry the scarcer points; at an even score the smaller number."""
    sides = []
    if mean <= 0.5:
        sides.append(by.points)
    if mean >= 0.5:
        sides.append(by.sizes - by.points)
    squares = [float(np.square(scarce).sum()) for scarce in sides]
    carried = zip(sides, squares, strict=True)
    return min(float(side.sum()) ** 2 / square for side, square in carried if square > 0.0)


def _opening_masses(
    by: OpeningSums, mean: float, se: float, effective: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the means of openings, with masses that sum to as many openings as have this error."""
    share, means = by.sizes / by.sizes.sum(), by.points / by.sizes
    openings = float(len(by.sizes))
    if se > 0.0:
        variance = float(share @ np.square(means - mean))
        openings = variance / (1.0 - float(share @ share)) / se**2
    if effective <= openings * (1.0 + 1e-9):
        return (), ()
    # Means that differ by less than 0.001 are merged to bound the number of atoms.
    _, place = np.unique(np.rint(1000.0 * means), return_inverse=True)
    shares, sums = np.bincount(place.ravel(), share), np.bincount(place.ravel(), share * means)
    return tuple((sums / shares).tolist()), tuple((openings * shares).tolist())


def _variance_within(by: OpeningSums, again: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return variance and degrees of freedom within each opening; pooled for single pairs."""
    dofs = (by.sizes - 1).astype(np.float64)
    deviations = np.maximum(by.squares - np.square(by.points) / by.sizes, 0.0)
    deviations[deviations < 1e-9] = 0.0
    pooled = dofs.sum()
    variance = np.divide(deviations, dofs, out=np.zeros_like(deviations), where=again)
    variance[~again] = deviations[again].sum() / pooled
    dofs[~again] = pooled
    return variance, dofs


def _effective_pairs_of_these(variance: float, total: int, error: float) -> float:
    """Return the effective pairs, which may exceed the number of pairs if openings differ."""
    if variance == 0.0 or error == 0.0:
        return float(total)
    return max(variance * total / (total - 1) / error, 1.0)


def _bell_mccaffrey(share: Floats) -> float:
    """Return the degrees of freedom of the CR2 error; K - 1 if all clusters have the same share."""
    squares = np.square(share)
    weights = squares / (1.0 - share)
    crossed = weights.sum() ** 2 - np.square(weights).sum()
    return float(1.0 / (squares.sum() + crossed))


def _repeat_counts(times: npt.ArrayLike | None, values: Floats) -> Ints | None:
    if times is None:
        return None
    often = np.asarray(times, np.int64)
    if often.shape != values.shape or np.any(often < 1):
        raise ValueError("`times` must be at least 1 for every score")
    return often


def _scores(scores: npt.ArrayLike | Sequence[float]) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise ValueError("a score must be between 0 and 1")
    return values
