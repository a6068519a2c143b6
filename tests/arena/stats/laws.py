"""Simulated players of known strength."""

from typing import NamedTuple

import numpy as np

from arena.stats.counts import Floats
from arena.stats.rating_data import RatingData, rating_data
from arena.stats.rating_fit import Fit, fit_ratings


class Law(NamedTuple):
    """How games between two players end.

    `strength` is the log-odds of the stronger one, `draw_width` the latent difference that
    still draws, `bias` the standard deviation of what openings give the first mover.
    """

    strength: float
    draw_width: float
    bias: float = 1.0


def latent_scores(latent: Floats, draw_width: float) -> Floats:
    """Score of a game whose latent difference is known."""
    return 0.5 + 0.5 * (np.sign(latent) * (np.abs(latent) > draw_width))


def pair_score_runs(
    rng: np.random.Generator, law: Law, runs: int, *, openings: int, repeats: int, noisy: bool
) -> Floats:
    """Pair scores of many runs, by opening and repeat; only noisy players vary in a repeat."""
    bias = law.bias * rng.standard_normal((runs, openings, 1))
    shape = (runs, openings, repeats if noisy else 1)
    as_first = latent_scores(law.strength + bias + rng.logistic(size=shape), law.draw_width)
    as_second = latent_scores(law.strength - bias + rng.logistic(size=shape), law.draw_width)
    scores = (as_first + as_second) / 2.0
    return np.broadcast_to(scores, (runs, openings, repeats))


def true_score(law: Law) -> float:
    """Mean pair score over all openings."""
    return 0.5 * (_mean_score(law) + _mean_score(law._replace(bias=-law.bias)))


def _mean_score(law: Law) -> float:
    """Mean score over all openings of a game with a latent advantage."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    middle = law.strength + law.bias * nodes
    win = 1.0 / (1.0 + np.exp(law.draw_width - middle))
    lose = 1.0 / (1.0 + np.exp(law.draw_width + middle))
    return float((weights * (0.5 + 0.5 * (win - lose))).sum() / weights.sum())


class RoundRobin(NamedTuple):
    """Players of known strength in log-odds, with what the first move is worth."""

    strengths: tuple[float, ...]
    advantage: float
    draw_width: float
    bias: float

    @property
    def seats(self) -> tuple[np.ndarray, np.ndarray]:
        """First and second movers of all ordered pairs."""
        return np.nonzero(~np.eye(len(self.strengths), dtype=bool))


def round_robin(
    rng: np.random.Generator, players: RoundRobin, *, openings: int, repeats: int, noisy: bool
) -> RatingData:
    """Results of all ordered pairs, every pair on the same openings."""
    first, second = players.seats
    strengths = np.array(players.strengths)
    gap = strengths[first] - strengths[second] + players.advantage
    bias = players.bias * rng.standard_normal(openings)
    noise = rng.logistic(size=(len(first), openings, repeats if noisy else 1))
    scores = latent_scores(gap[:, None, None] + bias[None, :, None] + noise, players.draw_width)
    shape = (len(first), openings, repeats)
    columns = [
        np.broadcast_to(column, shape).ravel()
        for column in (
            first[:, None, None],
            second[:, None, None],
            scores,
            np.arange(openings)[None, :, None],
        )
    ]
    return rating_data(*columns, len(strengths))


def true_ratings(players: RoundRobin) -> Fit:
    """Ratings that fit the expected scores over all openings."""
    size = len(players.strengths)
    expected = np.zeros((size, size))
    for first, second in zip(*players.seats, strict=True):
        gap = players.strengths[first] - players.strengths[second] + players.advantage
        expected[first, second] = _mean_score(Law(gap, players.draw_width, players.bias))
    return fit_ratings((1.0 - np.eye(size))[None], expected[None], True)


def tilted(law: Floats, score: float) -> Floats:
    """The law of equally spaced scores nearest to `law` with the given mean."""
    support = np.linspace(0.0, 1.0, len(law))
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        weights = law * np.exp(middle * support)
        weights /= weights.sum()
        low, high = (middle, high) if weights @ support < score else (low, middle)
    return weights
