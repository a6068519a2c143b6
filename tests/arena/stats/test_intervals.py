import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.clusters import Spread, kish_size, spread
from arena.stats.estimate import EstimateKind
from arena.stats.intervals import (
    Status,
    interval,
    lower_bound,
    score_at_least,
    score_estimate,
    small_or_lopsided,
    wilson,
)
from arena.stats.quantiles import normal_quantile, t_quantile
from tests.arena.stats.published import clopper_pearson

PAIRS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
    min_size=2,
    max_size=40,
)


def naive_cr2(openings, scores):
    """Standard error and degrees of freedom by the matrices of Bell and McCaffrey."""
    openings, scores = np.asarray(openings), np.asarray(scores)
    n = len(scores)
    residual = scores - scores.mean()
    hat = np.full((n, n), 1.0 / n)
    variance, columns = 0.0, []
    for name in np.unique(openings):
        inside = openings == name
        block = np.eye(inside.sum()) - hat[np.ix_(inside, inside)]
        values, vectors = np.linalg.eigh(block)
        adjust = vectors @ np.diag(values**-0.5) @ vectors.T
        row = np.ones(inside.sum()) @ adjust / n
        variance += float(row @ residual[inside]) ** 2
        columns.append((np.eye(n) - hat)[:, inside] @ row)
    eigenvalues = np.linalg.eigvalsh(np.array(columns) @ np.array(columns).T)
    return math.sqrt(variance), eigenvalues.sum() ** 2 / (eigenvalues**2).sum()


@given(PAIRS)
def test_error_and_degrees_of_freedom_are_those_of_the_matrices(pairs):
    openings, scores = zip(*pairs, strict=True)
    found = spread(openings, scores)
    if found.openings > 1:
        se, dof = naive_cr2(openings, scores)
        assert found.se == pytest.approx(se, abs=1e-9)
        assert found.dof == pytest.approx(dof, rel=1e-6)


def test_equal_clusters_give_the_error_of_the_mean_of_their_means():
    scores = np.array([[0, 0.5], [1, 1], [0.5, 0.5], [0.25, 0.75]])
    found = spread(np.repeat(range(4), 2), scores.ravel())
    assert found.se == pytest.approx(scores.mean(axis=1).std(ddof=1) / 2)
    assert found.dof == pytest.approx(3)


def test_effective_size_is_the_number_of_openings_if_bots_never_vary():
    scores = np.repeat([0.0, 0.5, 1.0, 0.5, 1.0] * 10, 20)
    found = spread(np.repeat(range(50), 20), scores)
    assert found.effective_pairings == pytest.approx(50, rel=0.03)
    assert kish_size(np.repeat(range(50), 20)) == pytest.approx(50)


def test_effective_size_of_independent_pairings_is_their_number():
    found = spread(range(6), [0, 1, 0.5, 0.25, 1, 0])
    assert found.effective_pairings == pytest.approx(6)


def test_wilson_and_clopper_pearson_are_the_published_ones():
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81/263, 15/148, 0/20, 1/29.
    z = normal_quantile(0.975)
    assert wilson(81 / 263, 263, z) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15 / 148, 148, z) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0.0, 20, z) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert clopper_pearson(81, 263) == pytest.approx((0.2527, 0.3676), abs=5e-5)
    assert clopper_pearson(15, 148) == pytest.approx((0.0578, 0.1617), abs=5e-5)
    assert clopper_pearson(0, 20) == pytest.approx((0.0, 0.1684), abs=5e-5)
    assert clopper_pearson(1, 29) == pytest.approx((0.0009, 0.1776), abs=5e-5)


def test_enough_openings_give_the_cluster_t_interval():
    scores = [0.0, 0.25, 0.5, 0.75, 1.0] * 4
    found = spread(range(20), scores)
    score = score_estimate(range(20), scores)
    reach = t_quantile(0.975, 19.0) * np.std(scores, ddof=1) / math.sqrt(20)
    assert found.dof == pytest.approx(19)
    assert (score.low, score.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    assert score.kind is EstimateKind.FIXED


def test_few_openings_give_the_wider_of_cluster_t_and_wilson():
    scores = [0.5, 0.5, 0.5, 0.75]
    wide = wilson(0.5625, 4, normal_quantile(0.975))
    score = score_estimate(range(4), scores)
    assert (score.low, score.high) == pytest.approx(wide)


def test_lopsided_results_are_one_sided():
    score = score_estimate(range(500), [1.0] * 499 + [0.5])
    assert score.high is None
    assert score.low == pytest.approx(wilson(0.999, 500, normal_quantile(0.975)).low)


@pytest.mark.parametrize(
    ("openings", "percent", "elo"),
    [(10, 74.1, 182), (50, 94.1, 483), (100, 97.0, 606), (500, 99.4, 888), (1000, 99.7, 1009)],
)
def test_all_wins_give_the_published_one_sided_bound(openings, percent, elo):
    score = score_estimate(range(openings), np.ones(openings))
    assert score.high is None
    assert math.floor(1000 * score.low) / 10 == percent
    assert int(-400 * math.log10(1 / score.low - 1)) == elo
    assert score.low == pytest.approx(clopper_pearson(openings, openings, 0.90).low)
    losses = score_estimate(range(openings), np.zeros(openings))
    assert (losses.low, losses.high) == (None, pytest.approx(1 - score.low))


def test_all_pairings_alike_leave_room_for_what_was_not_seen():
    score = score_estimate(range(500), [0.5] * 500)
    assert (score.low, score.high) == pytest.approx((0.4963, 0.5037), abs=5e-5)


def test_openings_that_only_agree_in_the_mean_are_alike_too():
    # Every opening has one win and one loss: the opening, not the pairing, is observed.
    score = score_estimate(np.repeat(range(20), 2), [0.0, 1.0] * 20)
    assert (score.low, score.high) == pytest.approx(
        (score_estimate(range(20), [0.5] * 20).low, score_estimate(range(20), [0.5] * 20).high)
    )


def test_one_opening_gives_no_inference_however_often_it_was_played():
    score = score_estimate([4] * 500, [1.0] * 500)
    assert (score.value, score.low, score.high, score.kind) == (1.0, None, None, EstimateKind.NONE)


def test_a_census_is_exact():
    score = score_estimate(range(30), [1.0] * 20 + [0.5] * 10, census=True)
    assert (score.value, score.low, score.high) == (pytest.approx(25 / 30), None, None)
    assert score.kind is EstimateKind.CENSUS


def test_two_openings_may_set_no_bound_at_all():
    score = score_estimate(range(2), [0.0, 1.0])
    assert (score.value, score.low, score.high) == (0.5, None, None)


def test_the_interval_of_one_dominant_opening_is_wide():
    openings, scores = [0] * 100 + list(range(1, 10)), [1.0] * 100 + [0.5] * 9
    found = spread(openings, scores)
    assert found.dof < 1.5
    assert interval(found, 0.025).low < 0


def test_a_check_needs_openings_and_a_bound():
    assert score_at_least(range(9), [1.0] * 9, 0.5).verdict is Status.VACUOUS
    assert score_at_least([], [], 0.5).verdict is Status.VACUOUS
    passed = score_at_least(range(10), [1.0] * 10, 0.74)
    assert (passed.verdict, passed.bound) == (Status.PASSED, pytest.approx(0.05**0.1))
    assert score_at_least(range(10), [1.0] * 10, 0.75).verdict is Status.FAILED
    assert score_at_least(range(10), [0.0] * 10, 0.01).verdict is Status.FAILED
    assert score_at_least([3] * 10, [1.0] * 10, 0.5, min_distinct=1).bound == 0.0


def test_a_check_of_a_census_compares_exactly():
    scores = [1.0] * 11 + [0.5]
    assert score_at_least(range(12), scores, 0.95, census=True).verdict is Status.PASSED
    assert score_at_least(range(12), scores, 0.96, census=True).verdict is Status.FAILED
    assert score_at_least(range(12), scores, 0.95).verdict is Status.FAILED


def test_a_check_uses_one_sided_quantiles():
    scores = [0.25, 0.5, 0.75, 1.0] * 10
    found = spread(range(40), scores)
    assert lower_bound(found) == pytest.approx(found.mean - t_quantile(0.95, 39.0) * found.se)


def test_scores_outside_the_scale_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        spread([0], [1.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        spread([0], [math.nan])


def test_no_pairing_is_an_empty_spread():
    assert spread([], []) == Spread(0, 0, 0.0, 0.0, 0.0, 0.0)
    assert score_estimate([], []).value is None
    assert kish_size([]) == 0.0


def test_under_five_points_lost_or_won_an_interval_is_lopsided():
    for lost, expected in (([0.0] * 5, False), ([0.0] * 4 + [0.25], True)):
        scores = np.array([*lost, *[1.0] * (40 - len(lost))])
        assert small_or_lopsided(spread(np.arange(40), scores)) == expected
        assert small_or_lopsided(spread(np.arange(40), 1.0 - scores)) == expected
