"""Weights of tables by least squares with a ridge: conjugate gradients on sums of whole numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.fitting.labelled_positions import Positions
from agents.fitting.table_sums import TableSums
from agents.kernels.learned_value import SCALE
from arena.stats.clustered_error import FitQuality, fit_quality, mean_by_game

UNIT = 1 << 20  # of a disc or bean, in the sums
MOST_DIRECTION = 1 << 30  # of a product, so that no sum leaves 63 bits
STEPS = 15  # the held-out error does not change after them
GRID = (128.0, 32.0, 8.0)  # in positions: an entry seen so often keeps half of what it says

Floats = NDArray[np.float64]
Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class FitRows:
    """Positions to fit: what their tables are to say, and of which game each is."""

    positions: Positions
    labels: Shorts  # the margin less what is known

    def first(self, rows: int) -> "FitRows":
        """The first so many."""
        return FitRows(self.positions.part(slice(rows)), self.labels[:rows])

    def __len__(self) -> int:
        return len(self.labels)


class FittedTables(NamedTuple):
    """Weights as a file holds them, and how well they fit held-out games."""

    weights: Shorts  # a row a phase
    ridge: float
    quality: FitQuality
    seen: float  # the share of the different entries that were ever looked up
    errors: Floats  # squared, of the held-out positions


def counts_of(sums: TableSums, rows: FitRows) -> NDArray[np.int64]:
    """How often each weight was looked up."""
    nothing = np.zeros(sums.different * (sums.entries // sums.layout.entries), np.int64)
    ones = np.ones(len(rows), np.int16)
    return sums.spread(rows.positions.rows, ones, 1, nothing)


def solved(
    sums: TableSums, rows: FitRows, counts: NDArray[np.int64], ridge: float, steps: int = STEPS
) -> Floats:
    """The weights: conjugate gradients from 0, preconditioned by 1 / (count + ridge)."""
    words, nothing = rows.positions.rows, np.zeros_like(counts)
    no_labels = np.zeros(len(rows), np.int16)
    weights = np.zeros(len(counts))
    rest = sums.spread(words, rows.labels, UNIT, nothing) / UNIT
    diagonal = 1.0 / (counts + ridge)
    direction = diagonal * rest
    slope = sums.dot(rest, direction)
    for _ in range(steps):
        largest = float(np.abs(direction).max()) * sums.layout.lookups
        if largest == 0.0 or slope == 0.0:
            break
        scale = 2.0 ** np.floor(np.log2(MOST_DIRECTION / largest))
        whole = np.rint(direction * scale).astype(np.int64)
        direction = whole / scale
        image = ridge * direction - sums.spread(words, no_labels, 0, whole) / scale
        step = slope / sums.dot(direction, image)
        weights = weights + step * direction
        rest = rest - step * image
        better = diagonal * rest
        new = sums.dot(rest, better)
        direction = better + (new / slope) * direction
        slope = new
    return weights


def rounded(weights: Floats, phases: int) -> Shorts:
    """The weights in 256ths, a row a phase."""
    whole = np.clip(np.rint(weights * SCALE), -32767, 32767).astype(np.int16)
    return np.ascontiguousarray(whole.reshape(phases, -1))


def predictions(sums: TableSums, rows: FitRows, weights: Shorts) -> Floats:
    """What the rounded weights say of every position, in discs or beans."""
    whole = weights.reshape(-1).astype(np.int64)
    return sums.predict(rows.positions.rows, whole) / SCALE


def fit_tables(
    sums: TableSums,
    training: FitRows,
    held_out: FitRows,
    ridges: Sequence[float],
    look: Callable[[], None] = lambda: None,
) -> FittedTables:
    """The weights with the largest ridge whose held-out error is within one error of the best."""
    phases = sums.entries // sums.layout.entries
    counts = counts_of(sums, training)
    seen = float((counts > 0).mean())
    found: list[FittedTables] = []
    outcome = held_out.labels.astype(np.float64)
    for ridge in ridges:
        look()
        weights = rounded(solved(sums, training, counts, ridge), phases)
        predicted = predictions(sums, held_out, weights)
        quality = fit_quality(predicted, outcome, held_out.positions.games)
        found.append(FittedTables(weights, ridge, quality, seen, (outcome - predicted) ** 2))
    best = min(found, key=lambda each: each.quality.error.value)
    for each in sorted(found, key=lambda each: -each.ridge):
        worse = mean_by_game(each.errors - best.errors, held_out.positions.games)
        if each is best or worse.value <= worse.by_game:
            return each
    return best
