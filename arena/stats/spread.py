"""Mean score with a cluster-robust error and the effective sample size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.estimate import Scope

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Spread(NamedTuple):
    """A mean score with its standard error, for one of the two questions.

    `openings` is K, `pairings` is N; `se` is 0 if nothing varied, `dof` is 0 if there is nothing
    to tell it from. `variance` is that of the pair scores, divisor N; `shares[i]` of them scored
    `scores[i]`. `effective_pairings` is n of rule T: independent pairings that are as sure.
    `opening_masses[i]` of independent openings had the mean `opening_scores[i]`; none are there
    unless pairings on one opening differ, so that n is more than openings.
    """

    scope: Scope
    openings: int
    pairings: int
    mean: float
    variance: float
    se: float
    dof: float
    scores: tuple[float, ...]
    shares: tuple[float, ...]
    effective_pairings: float
    opening_scores: tuple[float, ...] = ()
    opening_masses: tuple[float, ...] = ()

    @property
    def masses(self) -> list[float]:
        """How many independent pairings brought each score."""
        return [self.effective_pairings * share for share in self.shares]

    @property
    def alike(self) -> int:
        """Independent observations if all scores are equal."""
        return self.openings if self.scope is Scope.LIKE else self.pairings


class OpeningSums(NamedTuple):
    """Pairings, their scores and the squares of these, summed by opening."""

    sizes: Ints
    points: Floats
    squares: Floats


def spread(
    openings: npt.ArrayLike, scores: npt.ArrayLike, times: npt.ArrayLike | None = None
) -> Spread:
    """Spread of scores in [0, 1], one per pairing, for openings like these: by opening.

    `times` says how often each stands there: once each without it.

    Standard error: CR2 for a mean; degrees of freedom: Bell and McCaffrey, "Bias reduction in
    standard errors for linear regression with multi-stage samples" (2002).
    """
    values = _scores(scores)
    if len(values) == 0:
        return Spread(Scope.LIKE, 0, 0, 0.0, 0.0, 0.0, 0.0, (), (), 0.0)
    often = _often(times, values)
    return spread_from_sums(_by_opening(openings, values, often), *_law(values, often))


def spread_from_sums(by: OpeningSums, law: tuple[float, ...], seen: Ints) -> Spread:
    """The same from sums by opening; `seen[i]` of all pairings scored `law[i]`."""
    total, mean, variance = _moments(by)
    shares = tuple((seen / total).tolist())
    if len(by.sizes) == 1:
        return Spread(Scope.LIKE, 1, total, mean, variance, 0.0, 0.0, law, shares, 1.0)
    share = by.sizes / total
    errors = by.points - by.sizes * mean
    # Exact scores leave errors of a few roundings where there is none.
    errors[np.abs(errors) < 1e-9 * by.sizes] = 0.0
    se = float(np.sqrt((np.square(errors) / (1.0 - share)).sum())) / total
    effective = _guarded(by, mean, _effective(variance, total, se, float(len(by.sizes))))
    return Spread(
        Scope.LIKE, len(by.sizes), total, mean, variance, se, _bell_mccaffrey(share), law, shares,
        effective, *_opening_law(by, mean, se, effective),
    )  # fmt: skip


def spread_fixed_openings(
    openings: npt.ArrayLike, scores: npt.ArrayLike, times: npt.ArrayLike | None = None
) -> Spread | None:
    """The same for exactly these openings, each weighed by its pairings; None without repeats.

    Pairings on one opening are independent: the agents leave something to chance.
    """
    values = _scores(scores)
    if len(values) == 0:
        return None
    often = _often(times, values)
    by = _by_opening(openings, values, often)
    again = by.sizes > 1
    if not again.any():
        return None
    total, mean, variance = _moments(by)
    law, seen = _law(values, often)
    inside, dofs = _inside(by, again)
    parts = np.square(by.sizes / total) * inside / by.sizes
    error = float(parts.sum())
    dof = error**2 / float((np.square(parts) / dofs).sum()) if error > 0.0 else 0.0
    effective = _these_effective(variance, total, error)
    return Spread(
        Scope.THESE, len(by.sizes), total, mean, variance, error**0.5, dof, law,
        tuple((seen / total).tolist()), effective,
    )  # fmt: skip


def kish_effective_size(openings: npt.ArrayLike, times: npt.ArrayLike | None = None) -> float:
    """The equivalent number of openings of equal size: (sum n)^2 / sum n^2 (Kish)."""
    sizes = sizes_of(openings, times).astype(np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0


def _by_opening(openings: npt.ArrayLike, values: Floats, often: Ints | None) -> OpeningSums:
    _, cluster, sizes = np.unique(np.asarray(openings), return_inverse=True, return_counts=True)
    cluster = cluster.ravel()
    each = values, np.square(values)
    if often is not None:
        sizes = np.bincount(cluster, often).astype(np.int64)
        each = each[0] * often, each[1] * often
    points, squares = (np.bincount(cluster, amounts).astype(np.float64) for amounts in each)
    return OpeningSums(sizes, points, squares)


def _moments(by: OpeningSums) -> tuple[int, float, float]:
    """Number, mean and variance of all scores."""
    total, points = int(by.sizes.sum()), float(by.points.sum())
    # Sums of quarters are exact, so the order of the pairings leaves no trace.
    variance = max(total * float(by.squares.sum()) - points**2, 0.0) / total**2
    return total, points / total, variance


def _law(values: Floats, often: Ints | None) -> tuple[tuple[float, ...], Ints]:
    """The scores that occur, and how often each does."""
    quarters = np.rint(4.0 * values).astype(np.int64)
    if np.array_equal(quarters, 4.0 * values):
        return QUARTERS, np.bincount(quarters, often, minlength=5).astype(np.int64)
    law, place = np.unique(values, return_inverse=True)
    return tuple(law.tolist()), np.bincount(place.ravel(), often).astype(np.int64)


def _effective(variance: float, total: int, se: float, alike: float) -> float:
    """Independent pairings that would have this error, from 1 to all of them."""
    if variance == 0.0:
        return alike
    if se == 0.0:
        return float(total)
    return min(max(variance * total / (total - 1) / se**2, 1.0), float(total))


def _guarded(by: OpeningSums, mean: float, effective: float) -> float:
    """Fewer effective pairings where few openings carry the scarcer points.

    Then rare bad openings may not have been met yet: K^(1 - b) n^b in place of n, with b from 0
    (one opening carries them) to 1 (four and more).
    """
    openings = float(len(by.sizes))
    if effective <= openings:
        return effective
    trust = min(max((_carrying(by, mean) - 1.0) / 3.0, 0.0), 1.0)
    return float(openings ** (1.0 - trust) * effective**trust)


def _carrying(by: OpeningSums, mean: float) -> float:
    """How many openings carry the scarcer points; at an even score the fewer of both."""
    sides = []
    if mean <= 0.5:
        sides.append(by.points)
    if mean >= 0.5:
        sides.append(by.sizes - by.points)
    squares = [float(np.square(scarce).sum()) for scarce in sides]
    carried = zip(sides, squares, strict=True)
    return min(float(side.sum()) ** 2 / square for side, square in carried if square > 0.0)


def _opening_law(
    by: OpeningSums, mean: float, se: float, effective: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means of openings with their masses, which make up as many as have this error."""
    share, means = by.sizes / by.sizes.sum(), by.points / by.sizes
    openings = float(len(by.sizes))
    if se > 0.0:
        variance = float(share @ np.square(means - mean))
        openings = variance / (1.0 - float(share @ share)) / se**2
    if effective <= openings * (1.0 + 1e-9):
        return (), ()
    # Means that differ by less are one: a thousand are as good as all of them.
    _, place = np.unique(np.rint(1000.0 * means), return_inverse=True)
    shares, sums = np.bincount(place.ravel(), share), np.bincount(place.ravel(), share * means)
    return tuple((sums / shares).tolist()), tuple((openings * shares).tolist())


def _inside(by: OpeningSums, again: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Variance inside each opening and its degrees of freedom; the pooled one where met once."""
    dofs = (by.sizes - 1).astype(np.float64)
    deviations = np.maximum(by.squares - np.square(by.points) / by.sizes, 0.0)
    deviations[deviations < 1e-9] = 0.0
    pooled = dofs.sum()
    variance = np.divide(deviations, dofs, out=np.zeros_like(deviations), where=again)
    variance[~again] = deviations[again].sum() / pooled
    dofs[~again] = pooled
    return variance, dofs


def _these_effective(variance: float, total: int, error: float) -> float:
    """As `_effective`, but different openings may make it more than all pairings."""
    if variance == 0.0 or error == 0.0:
        return float(total)
    return max(variance * total / (total - 1) / error, 1.0)


def _bell_mccaffrey(share: Floats) -> float:
    """Degrees of freedom of the CR2 error; K - 1 if all clusters have the same share."""
    squares = np.square(share)
    weights = squares / (1.0 - share)
    crossed = weights.sum() ** 2 - np.square(weights).sum()
    return float(1.0 / (squares.sum() + crossed))


def sizes_of(openings: npt.ArrayLike, times: npt.ArrayLike | None = None) -> Ints:
    """How many pairings each opening has, in the order of their numbers."""
    if times is None:
        return np.unique(np.asarray(openings), return_counts=True)[1].astype(np.int64)
    place = np.unique(np.asarray(openings), return_inverse=True)[1]
    return np.bincount(place.ravel(), np.asarray(times)).astype(np.int64)


def _often(times: npt.ArrayLike | None, values: Floats) -> Ints | None:
    if times is None:
        return None
    often = np.asarray(times, np.int64)
    if often.shape != values.shape or np.any(often < 1):
        raise ValueError("every score stands there once or more often")
    return often


def _scores(scores: npt.ArrayLike | Sequence[float]) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if not np.all((values >= 0.0) & (values <= 1.0)):
        raise ValueError("a score must be between 0 and 1")
    return values
