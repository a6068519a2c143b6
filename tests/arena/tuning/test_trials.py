"""The noise of a trial's score, as the sampler believes it."""

from dataclasses import replace

import numpy as np
import pytest

from arena.planning.games import COLUMNS, Games, Termination
from arena.tuning.recommendation import trial_data
from arena.tuning.trial_games import refuse_forfeits
from arena.tuning.trials import Trial, score_variance
from games.base.errors import UserError


@pytest.mark.parametrize("pairings", [1, 4, 100])
def test_pairings_that_are_all_alike_are_believed_by_a_prior_of_a_tenth(pairings):
    # Two and a half pairings of variance 0.1 beside those that were played.
    variance = 2.5 * 0.1 / (pairings + 2.5)
    assert score_variance(np.ones(pairings)) == pytest.approx(variance / pairings + 1e-6)


def test_small_trials_have_the_variance_of_all_in_common():
    empty = Trial(0, np.zeros(1), 0.5, 0.0, 1.0, 0.1 / 10, 20, 20, 0, 0.0)
    trials = [empty, empty._replace(noise=0.02 / 10), empty._replace(noise=0.03 / 60, games=120)]
    pooled = (0.1 * 10 + 0.02 * 10 + 0.03 * 60) / 80
    assert trial_data(trials).noise == pytest.approx([pooled / 10, pooled / 10, 0.03 / 60])


def test_a_trial_of_forfeits_alone_is_refused_with_the_error():
    columns = {name: np.zeros(2, kind) for name, kind in COLUMNS.items()}
    columns["termination"][:] = Termination.RAISED
    trace = """raised in 'S 4'\n  File "/h.py", line 3, in evaluate\nZeroDivisionError: by zero"""
    games = Games(columns, None, {0: trace, 1: trace})
    with pytest.raises(UserError, match=r"ZeroDivisionError: by zero, line 3 of h\.py"):
        refuse_forfeits(5, games)
    fair = columns | {"termination": np.array([Termination.RAISED, Termination.NORMAL])}
    refuse_forfeits(5, replace(games, columns=fair))
