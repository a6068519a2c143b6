"""A Gaussian process with known noise."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHORTEST, LONGEST = 0.15, 1.5  # lengths in units of a weight's range
LEAST_SIGNAL, MOST_SIGNAL = 1e-4, 1.0
MOST_FITTED = 300  # points that the lengths are fitted on
RANDOM_POINTS = 1500
LOCAL_POINTS = 400
LOCAL_STEPS = (0.1, 0.04, 0.015)
SUPPORTED = 2.0  # recommended points have at most this many usual errors of a tried point
ROOT_5 = math.sqrt(5.0)


class TrialData(NamedTuple):
    """The points of the trials, one in each row, their scores, and the variances of the scores."""

    points: Floats
    scores: Floats
    noise: Floats


class Posterior(NamedTuple):
    """A fitted process; `root` is the Cholesky factor of the covariance of the trials."""

    trials: TrialData
    mean: float
    signal: float  # variance
    lengths: Floats
    root: Floats
    weights: Floats  # covariance inverse times (scores - mean)

    def at(self, points: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the true score at each point."""
        cross = self.signal * matern(points, self.trials.points, self.lengths)
        half = np.linalg.solve(self.root, cross.T)
        variance = self.signal - np.einsum("ij,ij->j", half, half)
        return self.mean + cross @ self.weights, np.sqrt(np.maximum(variance, 0.0))

    def means(self, points: Floats) -> Floats:
        """Return the mean of the true score at each point."""
        cross = self.signal * matern(points, self.trials.points, self.lengths)
        return np.asarray(self.mean + cross @ self.weights)

    def covariance(self, points: Floats) -> Floats:
        """Return the posterior covariance of the true scores of some points."""
        cross = self.signal * matern(points, self.trials.points, self.lengths)
        half = np.linalg.solve(self.root, cross.T)
        prior = self.signal * matern(points, points, self.lengths)
        return np.asarray(prior - half.T @ half)

    def difference(self, better: Floats, worse: Floats) -> tuple[float, float]:
        """Return mean and standard deviation of the score at one point minus that at another."""
        both = np.stack([better, worse])
        means, joint = self.means(both), self.covariance(both)
        variance = joint[0, 0] + joint[1, 1] - 2.0 * joint[0, 1]
        return float(means[0] - means[1]), math.sqrt(max(float(variance), 0.0))


def matern(a: Floats, b: Floats, lengths: Floats) -> Floats:
    """Return the Matern 5/2 correlation (Rasmussen and Williams, 2006, equation 4.17)."""
    scaled_a, scaled_b = a / lengths, b / lengths
    squares = (
        np.square(scaled_a).sum(axis=1)[:, None]
        + np.square(scaled_b).sum(axis=1)[None, :]
        - 2.0 * scaled_a @ scaled_b.T
    )
    r = ROOT_5 * np.sqrt(np.maximum(squares, 0.0))
    return np.asarray((1.0 + r + r * r / 3.0) * np.exp(-r))


def precision_mean(trials: TrialData) -> float:
    """Return the mean score, weighted by precision but by at most the median precision.

    An agent scores one half against itself with hardly any noise, and is not the centre.
    """
    noise = np.maximum(trials.noise, np.median(trials.noise))
    return float(np.average(trials.scores, weights=1.0 / noise))


def condition(trials: TrialData, signal: float, lengths: Floats) -> Posterior:
    """Return the process with these lengths, after the trials."""
    mean = precision_mean(trials)
    covariance = signal * matern(trials.points, trials.points, lengths) + np.diag(trials.noise)
    root = np.linalg.cholesky(covariance)
    half = np.linalg.solve(root, trials.scores - mean)
    weights = np.asarray(np.linalg.solve(root.T, half), np.float64)
    return Posterior(trials, mean, signal, lengths, np.asarray(root, np.float64), weights)


def log_marginal_likelihood(trials: TrialData, settings: Floats, mean: float) -> float:
    """Return the log likelihood; `settings` are the logs of the signal and the lengths."""
    signal, lengths = math.exp(settings[0]), np.exp(settings[1:])
    covariance = signal * matern(trials.points, trials.points, lengths) + np.diag(trials.noise)
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return -math.inf
    half = np.linalg.solve(root, trials.scores - mean)
    return float(-0.5 * half @ half - np.log(np.diag(root)).sum())


def fit_posterior(trials: TrialData) -> Posterior:
    """Return the process whose signal and lengths are most likely, within their bounds."""
    settings = fit_hyperparameters(thin_trials(trials))
    return condition(trials, math.exp(settings[0]), np.exp(settings[1:]))


def thin_trials(trials: TrialData) -> TrialData:
    """Return at most MOST_FITTED trials, spread over the order in which they were played."""
    count = len(trials.scores)
    if count <= MOST_FITTED:
        return trials
    places = np.linspace(0, count - 1, MOST_FITTED).astype(np.int64)
    return TrialData(trials.points[places], trials.scores[places], trials.noise[places])


def fit_hyperparameters(trials: TrialData) -> Floats:
    """Return the logs of the most likely signal and lengths, by a pattern search."""
    dims, mean = trials.points.shape[1], precision_mean(trials)
    low = np.log(np.array([LEAST_SIGNAL] + [SHORTEST] * dims))
    high = np.log(np.array([MOST_SIGNAL] + [LONGEST] * dims))
    starts = _starts(trials, low, high)
    likelihoods = [log_marginal_likelihood(trials, each, mean) for each in starts]
    best = max(likelihoods)
    at, step = starts[likelihoods.index(best)], 0.8
    while step > 0.04:
        improved = False
        for axis in range(dims + 1):
            for sign in (1.0, -1.0):
                moved = at.copy()
                moved[axis] = min(max(moved[axis] + sign * step, low[axis]), high[axis])
                reached = (
                    log_marginal_likelihood(trials, moved, mean)
                    if moved[axis] != at[axis]
                    else -math.inf
                )
                if reached > best + 1e-9:
                    best, at, improved = reached, moved, True
                    break
        step = step if improved else 0.5 * step
    return at


def _starts(trials: TrialData, low: Floats, high: Floats) -> list[Floats]:
    spread = max(float(np.var(trials.scores)) - float(np.mean(trials.noise)), LEAST_SIGNAL)
    starts = []
    for length in (0.25, 0.6, 1.2):
        settings = np.log(np.array([spread] + [length] * trials.points.shape[1]))
        starts.append(np.clip(settings, low, high))
    return starts


def posterior_maximum(posterior: Posterior, rng: np.random.Generator) -> Floats:
    """Return the maximum of the posterior mean: random and tried points, then local steps.

    Only points with support by trials count: a search that stays in one place knows nothing about
    the others.
    """
    tried = posterior.trials.points
    dims = tried.shape[1]
    most = SUPPORTED * float(np.median(posterior.at(tried)[1]))
    best = _best(posterior, np.concatenate([rng.random((RANDOM_POINTS, dims)), tried]), most)
    for step in LOCAL_STEPS:
        near = np.clip(best + step * rng.standard_normal((LOCAL_POINTS, dims)), 0.0, 1.0)
        best = _best(posterior, np.concatenate([best[None, :], near]), most)
    return best


def _best(posterior: Posterior, points: Floats, most: float) -> Floats:
    means, spreads = posterior.at(points)
    chosen = int(np.argmax(np.where(spreads <= most, means, -np.inf)))
    return np.asarray(points[chosen], np.float64)
