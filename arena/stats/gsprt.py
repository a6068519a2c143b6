"""Log-likelihood ratio of two Elo hypotheses, from counts of scores."""

import math
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats
from arena.stats.elo import PER_NORMALIZED, score_from_elo

EMPTY_CELL = 1e-3
_OUTER_STEPS = 10
_ROOT_STEPS = 100


class EloModel(StrEnum):
    """Unit of the bounds of a test: the same number is a different test in each."""

    LOGISTIC = "logistic"
    NORMALIZED = "normalized"


def log_likelihood_ratio(
    counts: npt.ArrayLike, elo0: float, elo1: float, model: EloModel
) -> Floats:
    """LLR of `elo1` against `elo0` for counts of equally spaced scores, 0 to 1, in the last axis.

    Three cells are games, five are pairings. Van den Bergh, "A practical introduction to the
    GSPRT" (fishtest, fastchess). Each LLR depends on its own counts only, however many are
    asked for at once.
    """
    cells = regularised(counts)
    number = cells.sum(axis=0)
    shares = cells / number
    support = np.linspace(0.0, 1.0, len(cells))[:, None]
    laws = [_law(shares, support, elo, model) for elo in (elo0, elo1)]
    llr = number * (shares * np.log(laws[1] / laws[0])).sum(axis=0)
    return np.asarray(llr.reshape(np.shape(counts)[:-1]), dtype=np.float64)


def regularised(counts: npt.ArrayLike) -> Floats:
    """Counts as columns, empty cells replaced by 0.001 (fishtest, fastchess)."""
    table = np.asarray(counts, dtype=np.float64)
    columns = np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T)
    return np.where(columns == 0.0, EMPTY_CELL, columns)


def _law(shares: Floats, support: Floats, elo: float, model: EloModel) -> Floats:
    """Most likely law on `support` under the hypothesis `elo`."""
    if model is EloModel.LOGISTIC:
        return _tilted(shares, support - score_from_elo(elo))
    per_observation = math.sqrt(2.0) if len(support) == 5 else 1.0
    return _normalized_law(shares, support, elo / PER_NORMALIZED * per_observation)


def _normalized_law(shares: Floats, support: Floats, excess: float) -> Floats:
    """Most likely law whose mean exceeds 1/2 by `excess` standard deviations.

    Van den Bergh, "Normalized Elo": the constraint is made linear around the current law.
    """
    law = np.full_like(shares, 1.0 / len(support))
    moving = np.ones(shares.shape[1], dtype=np.bool_)
    for _ in range(_OUTER_STEPS):
        mean = (law * support).sum(axis=0)
        deviation = np.sqrt((law * np.square(support - mean)).sum(axis=0))
        curved = 1.0 + np.square((support - mean) / deviation)
        following = _tilted(shares, support - 0.5 - 0.5 * excess * deviation * curved)
        change = np.abs(following - law).max(axis=0)
        law = np.where(moving, following, law)
        moving &= change >= 1e-9
        if not moving.any():
            break
    return law


def _tilted(shares: Floats, excess: Floats) -> Floats:
    """Law nearest to `shares` in likelihood under which `excess` has mean zero.

    It is shares / (1 + theta excess), theta the root of sum shares excess / (1 + theta excess).
    """
    low = -1.0 / excess.max(axis=0)
    high = -1.0 / excess.min(axis=0)
    theta = np.zeros(shares.shape[1])
    moving = np.ones(shares.shape[1], dtype=np.bool_)
    for _ in range(_ROOT_STEPS):
        ratio = excess / (1.0 + theta * excess)
        miss = (shares * ratio).sum(axis=0)
        low = np.where(miss > 0.0, theta, low)
        high = np.where(miss < 0.0, theta, high)
        step = miss / (shares * np.square(ratio)).sum(axis=0)
        # Never most of the way to an end: next to a pole Newton's steps are tiny, not the error.
        step = np.clip(step, 0.9 * (low - theta), 0.9 * (high - theta))
        following = theta + step
        close = np.abs(following - theta) <= 1e-13 * (1.0 + np.abs(theta))
        # Each column stops by itself: what it becomes must not depend on its neighbours.
        theta = np.where(moving, following, theta)
        moving &= ~close & (miss != 0.0)
        if not moving.any():
            break
    return shares / (1.0 + theta * excess)
