"""The noise of a trial's score, as the sampler believes it."""

import numpy as np
import pytest

from arena.tuning.trials import noise_of


@pytest.mark.parametrize("pairings", [1, 4, 100])
def test_pairings_that_are_all_alike_are_believed_by_a_prior_of_a_tenth(pairings):
    # Two and a half pairings of variance 0.1 beside those that were played.
    variance = 2.5 * 0.1 / (pairings + 2.5)
    assert noise_of(np.ones(pairings)) == pytest.approx(variance / pairings + 1e-6)
