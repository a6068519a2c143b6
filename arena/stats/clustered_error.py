"""Errors of a prediction, with standard errors by game: its positions share one outcome."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class MeanError(NamedTuple):
    """A mean over positions, its standard error by game, and by position, which is too small."""

    value: float
    by_game: float
    by_position: float


def mean_by_game(values: Floats, games: NDArray[np.int32]) -> MeanError:
    """The mean of the values; the games are drawn, not the positions (Liang and Zeger 1986)."""
    count = len(values)
    mean = float(values.sum()) / count
    rest = values - mean
    sums = np.bincount(games, rest)
    clusters = len(np.unique(games))
    between = float((sums**2).sum()) * clusters / max(clusters - 1, 1)
    alone = float((rest**2).sum()) / max(count - 1, 1)
    return MeanError(mean, between**0.5 / count, (alone / count) ** 0.5)


class FitQuality(NamedTuple):
    """How well predictions fit outcomes that nobody fitted."""

    positions: int
    games: int
    r2: float
    error: MeanError  # the mean of the squared error
    signs: float  # the share of decided games whose winner it names


def fit_quality(predicted: Floats, outcome: Floats, games: NDArray[np.int32]) -> FitQuality:
    """The quality of predictions; R2 is the share of the variance that they explain."""
    squared = mean_by_game((outcome - predicted) ** 2, games)
    variance = float(((outcome - outcome.mean()) ** 2).mean())
    decided = outcome != 0
    right = np.sign(predicted[decided]) == np.sign(outcome[decided])
    return FitQuality(
        len(outcome),
        len(np.unique(games)),
        1.0 - squared.value / variance if variance else 0.0,
        squared,
        float(right.mean()) if len(right) else 0.0,
    )


class CalibrationBin(NamedTuple):
    """Positions of like prediction: what was predicted and what came, with its error by game."""

    positions: int
    predicted: float
    outcome: float
    error: float


def calibration(
    predicted: Floats, outcome: Floats, games: NDArray[np.int32], bins: int = 10
) -> list[CalibrationBin]:
    """Equal shares of the positions by their prediction, the lowest first."""
    order = np.argsort(predicted, kind="stable")
    found = []
    for part in np.array_split(order, bins):
        if len(part):
            mean = mean_by_game(outcome[part], games[part])
            shown = float(predicted[part].mean())
            found.append(CalibrationBin(len(part), shown, mean.value, mean.by_game))
    return found
