"""Standard errors by game agree with those of simulated games."""

import numpy as np
import pytest

from arena.stats.clustered_means import calibration, cluster_mean, fit_quality


def simulated(rng, games, positions):
    """Values that share most of what they are with the others of their game."""
    shared = rng.normal(0.0, 1.0, games)
    owners = np.repeat(np.arange(games, dtype=np.int32), positions)
    return shared[owners] + rng.normal(0.0, 0.2, games * positions), owners


def test_the_error_by_game_is_that_of_the_mean_and_the_one_by_position_is_not():
    rng = np.random.default_rng(7)
    means, errors = [], []
    for _ in range(400):
        found = cluster_mean(*simulated(rng, 60, 20))
        means.append(found.value)
        errors.append(found)
    true = np.std(means)
    assert np.mean([each.by_game for each in errors]) == pytest.approx(true, rel=0.08)
    assert np.mean([each.by_position for each in errors]) < true / 3


def test_with_one_position_a_game_both_errors_agree():
    rng = np.random.default_rng(8)
    found = cluster_mean(rng.normal(size=500), np.arange(500, dtype=np.int32))
    assert found.by_game == pytest.approx(found.by_position)


def test_a_perfect_prediction_explains_all_and_the_mean_explains_nothing():
    outcome = np.array([3.0, -1.0, 4.0, 0.0])
    games = np.arange(4, dtype=np.int32)
    assert fit_quality(outcome, outcome, games).r2 == 1.0
    assert fit_quality(outcome, outcome, games).sign_accuracy == 1.0
    assert fit_quality(np.full(4, outcome.mean()), outcome, games).r2 == 0.0


def test_calibration_has_equal_shares_in_ascending_order():
    predicted = np.arange(100.0)[::-1]
    bins = calibration(predicted, predicted + 1.0, np.arange(100, dtype=np.int32))
    assert [each.positions for each in bins] == [10] * 10
    assert [each.predicted for each in bins] == sorted(each.predicted for each in bins)
    assert all(each.outcome == pytest.approx(each.predicted + 1.0) for each in bins)
