"""Weights of tables by ridge regression: conjugate gradients on integer sums."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.learned_value import SCALE
from agents.evaluation.table_sums import TableSums
from agents.evaluation.training_positions import Positions
from arena.stats.clustered_means import FitQuality, cluster_mean, fit_quality

UNIT = 1 << 20  # steps of a disc or bean in integer sums
MOST_DIRECTION = 1 << 30  # of a product: sums fit into 63 bits
STEPS = 15  # the held-out error does not change after them
GRAIN = 64  # steps of a disc or bean in labels from values

Floats = NDArray[np.float64]
Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class FitRows:
    """Positions to fit with their labels."""

    positions: Positions
    labels: Shorts  # the margin minus the base value
    grain: int = 1  # steps of a disc or bean in a label

    def first(self, rows: int) -> "FitRows":
        """Return the first rows."""
        return FitRows(self.positions.select(slice(rows)), self.labels[:rows], self.grain)

    def __len__(self) -> int:
        return len(self.labels)


class FittedTables(NamedTuple):
    """Weights as a file holds them, and their quality on held-out games."""

    weights: Shorts  # one row for each phase
    ridge: float
    quality: FitQuality
    seen_share: float  # share of the weights that a training position looks up
    errors: Floats  # squared, of the held-out positions


def lookup_counts(sums: TableSums, rows: FitRows) -> NDArray[np.int64]:
    """Return how often each weight was looked up."""
    nothing = np.zeros(sums.weight_count * (sums.entries // sums.layout.entries), np.int64)
    ones = np.ones(len(rows), np.int16)
    return sums.add_residuals(rows.positions.rows, ones, 1, nothing)


def conjugate_gradients(
    sums: TableSums,
    rows: FitRows,
    counts: NDArray[np.int64],
    ridge: float,
    steps: int = STEPS,
) -> Floats:
    """Return the weights, by conjugate gradients from 0 preconditioned by 1 / (count + ridge)."""
    words, nothing = rows.positions.rows, np.zeros_like(counts)
    no_labels = np.zeros(len(rows), np.int16)
    weights = np.zeros(len(counts))
    rest = sums.add_residuals(words, rows.labels, UNIT // rows.grain, nothing) / UNIT
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
        image = ridge * direction - sums.add_residuals(words, no_labels, 0, whole) / scale
        step = slope / sums.dot(direction, image)
        weights = weights + step * direction
        rest = rest - step * image
        better = diagonal * rest
        new = sums.dot(rest, better)
        direction = better + (new / slope) * direction
        slope = new
    return weights


def quantise(weights: Floats, phases: int) -> Shorts:
    """Return the weights in 256ths, one row for each phase."""
    whole = np.clip(np.rint(weights * SCALE), -32767, 32767).astype(np.int16)
    return np.ascontiguousarray(whole.reshape(phases, -1))


def predictions(sums: TableSums, rows: FitRows, weights: Shorts) -> Floats:
    """Return the predictions of the rounded weights, in discs or beans."""
    whole = weights.reshape(-1).astype(np.int64)
    return sums.predict(rows.positions.rows, whole) / SCALE


def fit_tables(
    sums: TableSums,
    training: FitRows,
    held_out: FitRows,
    ridges: Sequence[float],
    look: Callable[[], None] = lambda: None,
) -> FittedTables:
    """Return the weights with the largest ridge that is within one error of the best ridge."""
    counts = lookup_counts(sums, training)
    found: list[FittedTables] = []
    for ridge in ridges:
        look()
        weights = conjugate_gradients(sums, training, counts, ridge)
        found.append(evaluate_tables(sums, held_out, weights, ridge, float((counts > 0).mean())))
    best = min(found, key=lambda each: each.quality.error.value)
    for each in sorted(found, key=lambda each: -each.ridge):
        worse = cluster_mean(each.errors - best.errors, held_out.positions.games)
        if each is best or worse.value <= worse.by_game:
            return each
    return best


def td_labels(sums: TableSums, rows: FitRows, weights: Shorts, trust: float) -> FitRows:
    """Return the same positions with labels from the values of the positions that followed.

    `trust` is the share of the later values: 1 leaves the margins unchanged.
    """
    positions, unit = rows.positions, SCALE
    known = sums.base_values(positions.rows) * unit
    values = known + sums.predict(positions.rows, weights.reshape(-1).astype(np.int64))
    returns = positions.margins.astype(np.int64) * unit
    sums.temporal_differences(values, positions.games, positions.signs, round(256 * trust), returns)
    labels = np.clip((returns - known) // (unit // GRAIN), -32767, 32767)
    return FitRows(positions, labels.astype(np.int16), GRAIN)


def refit_on_values(
    sums: TableSums,
    training: FitRows,
    held_out: FitRows,
    fitted: FittedTables,
    trust: float,
) -> FittedTables:
    """Fit the weights again, to labels from their values."""
    counts = lookup_counts(sums, training)
    rows = td_labels(sums, training, fitted.weights, trust)
    weights = conjugate_gradients(sums, rows, counts, fitted.ridge)
    return evaluate_tables(sums, held_out, weights, fitted.ridge, fitted.seen_share)


def evaluate_tables(
    sums: TableSums, held_out: FitRows, weights: Floats, ridge: float, seen: float
) -> FittedTables:
    """Return rounded weights with their quality on held-out games."""
    whole = quantise(weights, sums.entries // sums.layout.entries)
    predicted = predictions(sums, held_out, whole)
    outcome = held_out.labels.astype(np.float64)
    quality = fit_quality(predicted, outcome, held_out.positions.games)
    return FittedTables(whole, ridge, quality, seen, (outcome - predicted) ** 2)
