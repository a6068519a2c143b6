"""Whether one number an agent can describe the results at all: a test of the worst triple."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL
from arena.stats.rating_data import Results
from arena.stats.rating_fit import Fit

DRAWS = 200
# More openings are summed in so many blocks: these are as independent, and the tables stay small.
MOST_OPENINGS = 2_000
_TRIPLES_AT_ONCE, _PAIRS_AT_ONCE = 1_000, 4_096
SHARE_OF_VARIANCE = 0.5  # of what single games would have: a pair without losses is not certain


_Triples = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]


class Misfit(NamedTuple):
    """The triple of agents that does worst by its ratings: each beats the next, in a ring.

    `p` is the chance of a triple as bad where ratings describe everything; `p_all` is that of
    the sum over all pairs, which is stored but not the test: it has less power.
    """

    p: float
    p_all: float
    triple: tuple[int, int, int]


class _Residuals(NamedTuple):
    """Points beyond what the ratings expect, by opening and pair, less what a refit takes up."""

    by_opening: Floats
    variance: Floats
    one: Ints  # the agents of each pair, in ascending order
    other: Ints


def misfit(results: Results, fitted: Fit, draws: int = DRAWS, seed: int = 0) -> Misfit | None:
    """The test for one connected group; None if no three agents all met.

    Wild bootstrap over openings: Wu, "Jackknife, bootstrap and other resampling methods in
    regression analysis" (1986).
    """
    found = _residuals(results, fitted)
    signs = np.random.default_rng((seed, draws)).integers(2, size=(draws, len(found.by_opening)))
    # With many agents this is the largest table of all: no second one is made of it.
    drawn = np.empty((draws + 1, found.by_opening.shape[1]))
    drawn[0] = found.by_opening.sum(axis=0)
    np.matmul(2.0 * signs - 1.0, found.by_opening, out=drawn[1:])
    worst, columns = _worst(drawn, found.variance, _triples(results.agents, found))
    if not columns:
        return None
    triple = _ring(drawn[0], found, columns)
    np.square(drawn, out=drawn)
    whole = drawn @ (1.0 / found.variance)
    return Misfit(
        p=float(1 + np.count_nonzero(worst[1:] >= worst[0])) / (draws + 1),
        p_all=float(1 + np.count_nonzero(whole[1:] >= whole[0])) / (draws + 1),
        triple=triple,
    )


def _residuals(results: Results, fitted: Fit) -> _Residuals:
    agents = results.agents
    first, second = results.pair // agents, results.pair % agents
    gap = fitted.ratings[0][first] - fitted.ratings[0][second] + fitted.advantage[0]
    chance = 0.5 + 0.5 * np.tanh(0.5 * NATURAL * gap)
    beyond = np.where(first < second, 1.0, -1.0) * (results.points - results.games * chance)
    key = np.minimum(first, second) * agents + np.maximum(first, second)
    pairs, column = np.unique(key, return_inverse=True)
    column = column.ravel()
    blocks, row = np.unique(results.opening % MOST_OPENINGS, return_inverse=True)
    cells = row.ravel() * len(pairs) + column
    by_opening = np.bincount(cells, beyond, len(blocks) * len(pairs)).astype(np.float64)
    by_opening = by_opening.reshape(len(blocks), len(pairs))
    weight = np.bincount(column, results.games * chance * (1.0 - chance)).astype(np.float64)
    one, other = pairs // agents, pairs % agents
    design = np.zeros((len(pairs), agents))
    design[np.arange(len(pairs)), one], design[np.arange(len(pairs)), other] = 1.0, -1.0
    curvature = _curvature(design, weight)
    taken = by_opening @ design @ np.linalg.pinv(curvature, hermitian=True)
    by_opening -= (taken @ design.T) * weight
    variance = np.maximum(np.square(by_opening).sum(axis=0), SHARE_OF_VARIANCE * weight)
    return _Residuals(by_opening, variance, one, other)


def _curvature(design: Floats, weight: Floats) -> Floats:
    """The weighted squares of the design, summed without a second table of its size."""
    whole = np.zeros((design.shape[1], design.shape[1]))
    for at in range(0, len(design), _PAIRS_AT_ONCE):
        part = design[at : at + _PAIRS_AT_ONCE]
        whole += part.T @ (weight[at : at + _PAIRS_AT_ONCE, None] * part)
    return whole


def _triples(agents: int, found: _Residuals) -> Iterator[_Triples]:
    """The columns of the pairs ij, jk and ik of all triples i < j < k that met, some at a time."""
    column = np.full((agents, agents), -1, np.int32)
    column[found.one, found.other] = np.arange(len(found.one))
    for middle in range(1, agents - 1):
        below = np.flatnonzero(column[:middle, middle] >= 0)
        above = middle + 1 + np.flatnonzero(column[middle, middle + 1 :] >= 0)
        low, high = np.repeat(below, len(above)), np.tile(above, len(below))
        met = column[low, high] >= 0
        low, high = low[met], high[met]
        for at in range(0, len(low), _TRIPLES_AT_ONCE):
            i, k = low[at : at + _TRIPLES_AT_ONCE], high[at : at + _TRIPLES_AT_ONCE]
            yield column[i, middle], column[middle, k], column[i, k]


def _worst(sums: Floats, variance: Floats, triples: Iterable[_Triples]) -> tuple[Floats, list[int]]:
    """The largest imbalance of a triple in every row, and the columns of that in the first row."""
    best, columns = np.full(len(sums), -1.0), list[int]()
    for ij, jk, ik in triples:
        scale = np.sqrt(variance[ij] + variance[jk] + variance[ik])
        sizes = np.abs(sums[:, ij] + sums[:, jk] - sums[:, ik]) / np.maximum(scale, 1e-12)
        here = int(np.argmax(sizes[0]))
        if sizes[0, here] > best[0]:
            columns = [int(each[here]) for each in (ij, jk, ik)]
        best = np.maximum(best, sizes.max(axis=1))
    return best, columns


def _ring(sums: Floats, found: _Residuals, columns: list[int]) -> tuple[int, int, int]:
    """The agents of a triple in the order in which each does too well against the next."""
    ij, jk, ik = columns
    i, j, k = int(found.one[ij]), int(found.other[ij]), int(found.other[jk])
    return (i, j, k) if sums[ij] + sums[jk] >= sums[ik] else (k, j, i)
