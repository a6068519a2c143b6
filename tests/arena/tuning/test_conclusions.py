"""Conclusions: the noise of trials, the recommendation, each weight, and the verdict of a pool."""

from dataclasses import replace

import numpy as np
import pytest

from arena.planning.games import COLUMNS, Games, Termination
from arena.stats.elo import score_from_elo
from arena.stats.estimate import no_estimate
from arena.stats.sprt import SprtPlan
from arena.tuning.recommendation import (
    FEW,
    NO_CHANGE,
    NO_GAIN,
    WeightConclusion,
    recommend,
    revise_conclusions,
    trial_data,
    weight_answers,
)
from arena.tuning.space import Axis, Space
from arena.tuning.study_files import StudyReport
from arena.tuning.surrogate import TrialData, fit_posterior
from arena.tuning.trial_games import refuse_forfeits
from arena.tuning.trials import Trial, score_variance
from arena.tuning.validation import (
    ScoreInterval,
    StudyVerdict,
    no_validation,
    verdict_from_interval,
)
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


ONE_WEIGHT = Space((Axis("pot", 0.0, 1.0),), {})
ONE_SEED = np.array([0.1])


def rising_trials(scores, noise=1e-4, alike=False):
    """Trials evenly over the range, with these scores."""
    points = np.linspace(0.0, 1.0, len(scores))
    return [
        Trial(slot, np.array([point]), score, 0.0, 1.0, noise, 8, 8, 0 if alike else slot, 1.0)
        for slot, (point, score) in enumerate(zip(points, scores, strict=True))
    ]


RISING = (0.3, 0.4, 0.5, 0.6, 0.7)


@pytest.mark.parametrize(
    ("given", "flat"),
    [
        (rising_trials(RISING), ""),
        (rising_trials(RISING[:4]), FEW),
        (rising_trials(RISING, alike=True), NO_CHANGE),
        (rising_trials((0.5, 0.6, 0.45, 0.55, 0.6), noise=0.02), NO_GAIN),
    ],
)
def test_weights_are_recommended_when_their_gain_is_sure(given, flat):
    found, _ = recommend(ONE_WEIGHT, ONE_SEED, given, 1)
    assert found.flat == flat
    assert found.gain.value > 0.0
    assert (found.weights == ONE_WEIGHT.values(ONE_SEED)) == bool(flat)


SPACE = Space((Axis("steep", 0.0, 1.0), Axis("idle", 0.0, 1.0)), {})
SEED = np.array([0.3, 0.3])


def answers(elo, best, noise, trials=150):
    """The answers where a point has this Elo, after trials whose scores have this noise."""
    rng = np.random.default_rng(5)
    points = rng.random((trials, 2))
    scores = np.array([score_from_elo(elo(*point)) for point in points])
    found = scores + noise**0.5 * rng.standard_normal(trials)
    posterior = fit_posterior(TrialData(points, found, np.full(trials, noise)))
    return weight_answers(SPACE, posterior, np.array(best), SEED, 1)


def bowl(steep, _):
    return -800.0 * (steep - 0.7) ** 2


def test_weights_that_matter_differ_from_weights_that_do_not():
    steep, idle = answers(bowl, [0.7, 0.6], 2e-5)
    assert (steep.answer, idle.answer) == (WeightConclusion.MATTERS, WeightConclusion.LITTLE)
    assert steep.gain_elo.low < 128 < steep.gain_elo.high + 1.0
    assert 0.5 < steep.low < 0.7 < steep.high < 0.9
    assert idle.high - idle.low > 0.5


def test_few_games_cannot_tell():
    found = answers(bowl, [0.7, 0.6], 0.3, 12)
    assert {each.answer for each in found} == {WeightConclusion.UNKNOWN}


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
    assert answers(bowl, [0.7, idle], 2e-5)[1].answer == WeightConclusion.UNKNOWN


def test_a_weight_matters_only_if_the_match_shows_a_gain():
    found = answers(bowl, [0.7, 0.6], 2e-5)
    words = [each.answer for each in revise_conclusions(found, shows_gain=False)]
    assert words == [WeightConclusion.UNKNOWN, WeightConclusion.LITTLE]
    assert revise_conclusions(found, shows_gain=True) == found
    few = revise_conclusions(found, shows_gain=False, detectable_elo=26.0)
    assert [each.answer for each in few] == [WeightConclusion.UNKNOWN] * 2


@pytest.mark.parametrize(
    "word", [WeightConclusion.UNKNOWN, WeightConclusion.LITTLE, WeightConclusion.MATTERS]
)
def test_a_weight_tuned_alone_matters_exactly_if_the_match_shows_a_gain(word):
    alone = [answers(bowl, [0.7, 0.6], 2e-5)[0]._replace(answer=word)]
    assert revise_conclusions(alone, shows_gain=True)[0].answer is WeightConclusion.MATTERS
    assert revise_conclusions(alone, shows_gain=False)[0].answer is not WeightConclusion.MATTERS


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


def test_a_report_concludes_by_its_match_once_that_is_played():
    found = answers(bowl, [0.7, 0.6], 2e-5)
    report = StudyReport(None, "", [], None, None, found, 5.0, False, None)
    assert report.answers[0].answer is WeightConclusion.UNKNOWN
    match = no_validation(SprtPlan(0.0, 20.0), 5.0)._replace(verdict=StudyVerdict.BETTER)
    assert report._replace(outcome=match).answers[0].answer is WeightConclusion.MATTERS


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        (ScoreInterval(0.03, 0.001, 0.06), StudyVerdict.BETTER),
        (ScoreInterval(0.03, 0.0, 0.06), StudyVerdict.UNDECIDED),
        (ScoreInterval(0.0, -0.01, 0.019), StudyVerdict.NOT_BETTER),
        (ScoreInterval(0.01, -0.01, 0.03), StudyVerdict.UNDECIDED),  # it may be more than enough
        (ScoreInterval(0.01, 0.005, 0.015), StudyVerdict.BETTER),  # little, and sure
    ],
)
def test_the_interval_of_the_gain_decides(gain: ScoreInterval, verdict: StudyVerdict) -> None:
    assert verdict_from_interval(gain, 0.0, 0.02) is verdict
