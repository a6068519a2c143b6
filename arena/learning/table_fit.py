"""Weights of tables by least squares with a ridge: conjugate gradients on sums of whole numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.learned_value import SCALE
from agents.evaluation.table_sums import TableSums
from agents.evaluation.training_positions import Positions
from arena.stats.clustered_means import FitQuality, clustered_mean, fit_quality

UNIT = 1 << 20  # of a disc or bean, in the sums
MOST_DIRECTION = 1 << 30  # of a product, so that no sum leaves 63 bits
STEPS = 15  # the held-out error does not change after them
GRAIN = 64  # of a label mixed from values, in a disc or bean

Floats = NDArray[np.float64]
Shorts = NDArray[np.int16]


@dataclass(frozen=True)
class FitRows:
    """Positions to fit: what their tables are to say, and of which game each is."""

    positions: Positions
    labels: Shorts  # the margin less what is known
    grain: int = 1  # of a label, in a disc or bean

    def first(self, rows: int) -> "FitRows":
        """The first so many."""
        return FitRows(self.positions.part(slice(rows)), self.labels[:rows], self.grain)

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


def conjugate_gradients(
    sums: TableSums,
    rows: FitRows,
    counts: NDArray[np.int64],
    ridge: float,
    steps: int = STEPS,
) -> Floats:
    """The weights: conjugate gradients from 0, preconditioned by 1 / (count + ridge)."""
    words, nothing = rows.positions.rows, np.zeros_like(counts)
    no_labels = np.zeros(len(rows), np.int16)
    weights = np.zeros(len(counts))
    rest = sums.spread(words, rows.labels, UNIT // rows.grain, nothing) / UNIT
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


def quantise(weights: Floats, phases: int) -> Shorts:
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
    counts = counts_of(sums, training)
    found: list[FittedTables] = []
    for ridge in ridges:
        look()
        weights = conjugate_gradients(sums, training, counts, ridge)
        found.append(evaluate_tables(sums, held_out, weights, ridge, float((counts > 0).mean())))
    best = min(found, key=lambda each: each.quality.error.value)
    for each in sorted(found, key=lambda each: -each.ridge):
        worse = clustered_mean(each.errors - best.errors, held_out.positions.games)
        if each is best or worse.value <= worse.by_game:
            return each
    return best


def td_labels(sums: TableSums, rows: FitRows, weights: Shorts, trust: float) -> FitRows:
    """The same positions, each labelled by what the weights say of those that followed.

    `trust` is the share of what came later: 1 leaves the margins as they are.
    """
    positions, unit = rows.positions, SCALE
    known = sums.known(positions.rows) * unit
    values = known + sums.predict(positions.rows, weights.reshape(-1).astype(np.int64))
    returns = positions.margins.astype(np.int64) * unit
    sums.follow(values, positions.games, positions.signs, round(256 * trust), returns)
    labels = np.clip((returns - known) // (unit // GRAIN), -32767, 32767)
    return FitRows(positions, labels.astype(np.int16), GRAIN)


def refit_on_values(
    sums: TableSums,
    training: FitRows,
    held_out: FitRows,
    fitted: FittedTables,
    trust: float,
) -> FittedTables:
    """The weights fitted once more, to labels mixed from their own values."""
    counts = counts_of(sums, training)
    rows = td_labels(sums, training, fitted.weights, trust)
    weights = conjugate_gradients(sums, rows, counts, fitted.ridge)
    return evaluate_tables(sums, held_out, weights, fitted.ridge, fitted.seen)


def evaluate_tables(
    sums: TableSums, held_out: FitRows, weights: Floats, ridge: float, seen: float
) -> FittedTables:
    """The weights as a file holds them, with what held-out games say of them."""
    whole = quantise(weights, sums.entries // sums.layout.entries)
    predicted = predictions(sums, held_out, whole)
    outcome = held_out.labels.astype(np.float64)
    quality = fit_quality(predicted, outcome, held_out.positions.games)
    return FittedTables(whole, ridge, quality, seen, (outcome - predicted) ** 2)
