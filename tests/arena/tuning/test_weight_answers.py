"""What is said of a weight: told from its seed value or not, at the edge or flat up to it."""

from dataclasses import replace

import numpy as np
import pytest

from arena.stats.elo import score_from_elo
from arena.stats.estimate import no_estimate
from arena.stats.sprt import SprtPlan
from arena.tuning.recommendation import WeightConclusion, after_match, weight_answers
from arena.tuning.space import Axis, Space
from arena.tuning.surrogate import TrialData, fit_posterior
from arena.tuning.validation import StudyVerdict, no_validation

SPACE = Space((Axis("steep", 0.0, 1.0), Axis("idle", 0.0, 1.0)), {})
SEED = np.array([0.3, 0.3])


def answers(elo, best, noise, trials=150):
    """The answers where a point has this Elo, after trials whose scores have so much noise."""
    rng = np.random.default_rng(5)
    points = rng.random((trials, 2))
    scores = np.array([score_from_elo(elo(*point)) for point in points])
    found = scores + noise**0.5 * rng.standard_normal(trials)
    posterior = fit_posterior(TrialData(points, found, np.full(trials, noise)))
    return weight_answers(SPACE, posterior, np.array(best), SEED, 1)


def bowl(steep, _):
    return -800.0 * (steep - 0.7) ** 2


def test_a_weight_that_matters_is_told_from_one_that_does_not():
    steep, idle = answers(bowl, [0.7, 0.6], 2e-5)
    assert (steep.answer, idle.answer) == (WeightConclusion.MATTERS, WeightConclusion.LITTLE)
    assert steep.gain_elo.low < 128 < steep.gain_elo.high + 1.0
    assert 0.5 < steep.low < 0.7 < steep.high < 0.9
    assert idle.high - idle.low > 0.5


def test_few_games_cannot_tell():
    assert {each.answer for each in answers(bowl, [0.7, 0.6], 0.3, 12)} == {WeightConclusion.UNTOLD}


@pytest.mark.parametrize(
    ("elo", "at", "word"),
    [
        (lambda steep, _: 300.0 * steep, 0.98, WeightConclusion.WIDEN),
        (lambda steep, _: -300.0 * steep, 0.02, WeightConclusion.WIDEN),
        (lambda steep, _: 300.0 * min(steep, 0.6), 0.98, WeightConclusion.FLAT_EDGE),
    ],
)
def test_a_slope_at_the_edge_asks_for_more_room_and_a_plateau_does_not(elo, at, word):
    assert answers(elo, [at, 0.3], 2e-4)[0].answer == word


def test_a_weight_that_an_edge_held_back_asks_for_more_room():
    posterior = fit_posterior(TrialData(np.array([[0.5, 0.5]]), np.array([0.5]), np.array([1e-2])))
    best = np.array([0.98, 0.98])
    told = weight_answers(SPACE, posterior, best, SEED, 1, clipped=(True, False))
    assert [each.answer for each in told] == [WeightConclusion.WIDEN, WeightConclusion.FLAT_EDGE]


@pytest.mark.parametrize("idle", [0.3, 0.34])
def test_a_weight_near_its_seed_value_may_matter_elsewhere(idle):
    assert answers(bowl, [0.7, idle], 2e-5)[1].answer == WeightConclusion.UNTOLD


def test_a_weight_matters_only_if_the_match_shows_a_gain():
    found = answers(bowl, [0.7, 0.6], 2e-5)
    words = [each.answer for each in after_match(found, shows_gain=False)]
    assert words == [WeightConclusion.UNTOLD, WeightConclusion.LITTLE]
    assert after_match(found, shows_gain=True) == found
    few = after_match(found, shows_gain=False, detectable_elo=26.0)
    assert [each.answer for each in few] == [WeightConclusion.UNTOLD] * 2


@pytest.mark.parametrize(
    "word", [WeightConclusion.UNTOLD, WeightConclusion.LITTLE, WeightConclusion.MATTERS]
)
def test_a_weight_tuned_alone_matters_exactly_if_the_match_shows_a_gain(word):
    alone = [answers(bowl, [0.7, 0.6], 2e-5)[0]._replace(answer=word)]
    assert after_match(alone, shows_gain=True)[0].answer is WeightConclusion.MATTERS
    assert after_match(alone, shows_gain=False)[0].answer is not WeightConclusion.MATTERS


@pytest.mark.parametrize(
    ("verdict", "elo", "shown"),
    [
        (StudyVerdict.NOT_BETTER, replace(no_estimate("few", 4.0), low=-3.0, high=11.0), False),
        (StudyVerdict.NOT_BETTER, replace(no_estimate("few", 9.0), low=2.0, high=16.0), True),
        (StudyVerdict.BETTER, no_estimate("against a pool"), True),
        (StudyVerdict.FLAT, no_estimate("no games"), False),
    ],
)
def test_the_interval_of_the_verdict_says_whether_anything_was_gained(verdict, elo, shown):
    match = no_validation(SprtPlan(0.0, 20.0), 5.0)._replace(verdict=verdict, elo=elo)
    assert match.shows_gain is shown
