import numpy as np
import pytest

from arena.tuning.surrogate import (
    LONGEST,
    SHORTEST,
    Posterior,
    TrialData,
    condition,
    fit_posterior,
    log_marginal_likelihood,
    matern,
    posterior_maximum,
    precision_mean,
)

LOW, HIGH = np.log([1e-4, SHORTEST, SHORTEST]), np.log([1.0, LONGEST, LONGEST])


def bowl(count: int, noise: float, seed: int = 1) -> TrialData:
    rng = np.random.default_rng(seed)
    points = rng.random((count, 2))
    truth = 0.5 - 0.3 * (points[:, 0] - 0.6) ** 2
    scores = truth + np.sqrt(noise) * rng.standard_normal(count)
    return TrialData(points, scores, np.full(count, noise))


def test_the_correlation_is_that_of_the_textbook() -> None:
    a, b = np.array([[0.0]]), np.array([[0.5]])
    r = np.sqrt(5.0) * 0.5 / 0.25
    assert matern(a, b, np.array([0.25]))[0, 0] == pytest.approx((1 + r + r * r / 3) * np.exp(-r))
    assert matern(a, a, np.array([0.25]))[0, 0] == 1.0


def test_without_noise_the_posterior_goes_through_the_trials() -> None:
    trials = bowl(20, 1e-8)
    means, spreads = condition(trials, 0.05, np.array([0.5, 0.8])).at(trials.points)
    assert means == pytest.approx(trials.scores, abs=1e-4)
    assert spreads.max() < 1e-3


def test_far_from_all_trials_the_posterior_is_the_prior() -> None:
    trials = TrialData(np.zeros((3, 2)), np.array([0.4, 0.5, 0.6]), np.full(3, 1e-3))
    posterior = condition(trials, 0.04, np.array([0.15, 0.15]))
    mean, spread = posterior.at(np.ones((1, 2)))
    assert mean[0] == pytest.approx(0.5, abs=1e-3)
    assert spread[0] == pytest.approx(0.2, rel=1e-2)


def test_the_posterior_is_that_of_the_formulas_written_out() -> None:
    trials, lengths, signal = bowl(12, 4e-4), np.array([0.4, 1.0]), 0.02
    posterior = condition(trials, signal, lengths)
    at = np.array([[0.3, 0.7], [0.9, 0.1]])
    whole = signal * matern(trials.points, trials.points, lengths) + np.diag(trials.noise)
    cross = signal * matern(at, trials.points, lengths)
    mean = np.average(trials.scores, weights=1 / trials.noise)
    expected = mean + cross @ np.linalg.inv(whole) @ (trials.scores - mean)
    joint = signal * matern(at, at, lengths) - cross @ np.linalg.inv(whole) @ cross.T
    assert posterior.means(at) == pytest.approx(expected)
    assert posterior.covariance(at) == pytest.approx(joint)
    value, spread = posterior.difference(at[0], at[1])
    assert value == pytest.approx(expected[0] - expected[1])
    assert spread == pytest.approx(np.sqrt(joint[0, 0] + joint[1, 1] - 2 * joint[0, 1]))


def test_lengths_stay_within_their_bounds_and_beat_their_neighbours() -> None:
    trials = bowl(60, 2.5e-4)
    found = fit_posterior(trials)
    assert np.all(found.lengths >= SHORTEST - 1e-12)
    assert np.all(found.lengths <= LONGEST + 1e-12)
    settings = np.log([found.signal, *found.lengths])
    best = log_marginal_likelihood(trials, settings, precision_mean(trials))
    for axis in range(3):
        for step in (-0.3, 0.3):
            moved = settings.copy()
            moved[axis] += step
            inside = np.clip(
                moved, np.log([1e-4, SHORTEST, SHORTEST]), np.log([1, LONGEST, LONGEST])
            )
            assert log_marginal_likelihood(trials, inside, precision_mean(trials)) <= best + 1e-6


@pytest.fixture(scope="module")
def well_known() -> Posterior:
    """A bowl with many trials."""
    return fit_posterior(bowl(80, 1e-4))


def test_a_weight_that_does_nothing_gets_the_longer_length(well_known: Posterior) -> None:
    assert well_known.lengths[1] > well_known.lengths[0]


def test_the_highest_mean_is_near_the_true_optimum(well_known: Posterior) -> None:
    best = posterior_maximum(well_known, np.random.default_rng(1))
    assert best[0] == pytest.approx(0.6, abs=0.12)
