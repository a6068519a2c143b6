"""The noise of a trial's score, as the sampler believes it."""

import numpy as np
import pytest

from arena.tuning.recommendation import table
from arena.tuning.trials import Trial, noise_of


@pytest.mark.parametrize("pairings", [1, 4, 100])
def test_pairings_that_are_all_alike_are_believed_by_a_prior_of_a_tenth(pairings):
    # Two and a half pairings of variance 0.1 beside those that were played.
    variance = 2.5 * 0.1 / (pairings + 2.5)
    assert noise_of(np.ones(pairings)) == pytest.approx(variance / pairings + 1e-6)


def test_small_trials_have_the_variance_of_all_in_common():
    empty = Trial(0, np.zeros(1), 0.5, 0.0, 1.0, 0.1 / 10, 20, 20, 0, 0.0)
    trials = [empty, empty._replace(noise=0.02 / 10), empty._replace(noise=0.03 / 60, games=120)]
    pooled = (0.1 * 10 + 0.02 * 10 + 0.03 * 60) / 80
    assert table(trials).noise == pytest.approx([pooled / 10, pooled / 10, 0.03 / 60])
