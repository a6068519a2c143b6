"""Forecasts before playing agree with simulated matches."""

import numpy as np
import pytest

from arena.stats.intervals import score_estimate
from arena.stats.sample_size import (
    forecast_score,
    mean_and_variance,
    sample_sizes,
    smooth_score_shares,
)
from arena.stats.sprt import SprtPlan

LAW = (0.1, 0.2, 0.3, 0.25, 0.15)
SCORES = np.arange(5) / 4


def test_a_pilot_that_lost_nothing_does_not_promise_to_lose_nothing():
    law = smooth_score_shares([0, 0, 0, 0, 9])
    assert sum(law) == pytest.approx(1)
    assert 0.0 < law[0] < law[-1]
    assert sum(smooth_score_shares([0] * 5)) == pytest.approx(1)


def test_the_interval_to_come_is_that_which_games_of_this_law_get():
    draw = np.random.default_rng(7)
    for pairings in (30, 400):
        come = forecast_score(LAW, pairings)
        widths = []
        for _ in range(50):
            found = score_estimate(range(pairings), draw.choice(SCORES, pairings, p=LAW))
            widths.append(found.high - found.low)
        assert come.high - come.low == pytest.approx(np.mean(widths), rel=0.03)


def test_a_fixed_number_of_pairings_has_the_errors_that_it_was_asked_for():
    law = (0.12, 0.2, 0.36, 0.2, 0.12)
    plan = SprtPlan(0.0, 60.0)
    mean, variance = mean_and_variance(law)
    needed = sample_sizes(variance, plan)
    # At elo0 the mean score passes the middle of both hypotheses in 5 of 100 matches.
    draw, pairings = np.random.default_rng(3), round(needed.fixed)
    bound = 0.5 * (0.5 + 1 / (1 + 10 ** (-60 / 400)))
    means = draw.choice(SCORES, (4000, pairings), p=law).mean(axis=1)
    assert mean == pytest.approx(0.5)
    assert np.mean(means > bound) == pytest.approx(0.05, abs=0.012)
    assert needed.at_elo1 < needed.midway < needed.fixed
