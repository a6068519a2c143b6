"""Many comparisons at once: intervals that all hold together, and the slope over a budget."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate
from arena.stats.intervals import score_estimate
from arena.stats.quantiles import t_quantile

LEVEL = 0.95
BETTER, WORSE, OPEN = "better", "worse", "not told apart"


class CellScore(NamedTuple):
    """A score and its Elo with the usual interval, and an answer that counts all the cells."""

    score: Estimate
    elo: Estimate
    elo_of_all: Estimate  # whose intervals hold in all cells together
    answer: str


class Slope(NamedTuple):
    """Elo a step of a budget, with its interval; None with fewer than three cells."""

    value: float
    low: float | None
    high: float | None


def cell_score(openings: npt.ArrayLike, scores: npt.ArrayLike, cells: int) -> CellScore:
    """The score of one of so many cells; each has its share of the error (Bonferroni)."""
    score = score_estimate(openings, scores, LEVEL)
    shared = score_estimate(openings, scores, 1.0 - (1.0 - LEVEL) / cells)
    low, high = shared.low or 0.0, 1.0 if shared.high is None else shared.high
    answer = BETTER if low > 0.5 else WORSE if high < 0.5 else OPEN
    return CellScore(score, elo_estimate(score), elo_estimate(shared), answer)


def slope_of(steps: Sequence[float], elos: Sequence[Estimate]) -> Slope | None:
    """Elo a step, by weighted least squares; None with fewer than two cells that have an interval.

    Weights are those of the intervals; the error is the larger of theirs and of the residuals'
    (Draper and Smith, "Applied Regression Analysis", section 9.2), with Student's t.
    """
    known = [
        (step, elo.value, elo.low, elo.high)
        for step, elo in zip(steps, elos, strict=True)
        if elo.value is not None and elo.low is not None and elo.high is not None
    ]
    x = np.array([each[0] for each in known])
    if len(set(x.tolist())) < 2:
        return None
    y = np.array([each[1] for each in known])
    errors = np.array([(high - low) / (2 * t_quantile(0.975, 1e6)) for _, _, low, high in known])
    weights = 1.0 / np.square(np.maximum(errors, 1e-9))
    middle = float((weights * x).sum() / weights.sum())
    spread = float((weights * np.square(x - middle)).sum())
    slope = float((weights * (x - middle) * y).sum()) / spread
    if len(x) < 3:
        width = t_quantile(0.975, 1e6) / math.sqrt(spread)
        return Slope(slope, slope - width, slope + width)
    level = float((weights * y).sum() / weights.sum())
    residuals = y - level - slope * (x - middle)
    scatter = float((weights * np.square(residuals)).sum()) / (len(x) - 2)
    quantile = t_quantile(0.975, len(x) - 2 if scatter > 1.0 else 1e6)
    width = quantile * math.sqrt(max(1.0, scatter) / spread)
    return Slope(slope, slope - width, slope + width)
