import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.elo import needs_exact_interval
from arena.stats.estimate import EstimateKind, Scope
from arena.stats.intervals import (
    empirical_likelihood_bound,
    estimate_from_spread,
    interval,
    lower_bound,
    no_variation_estimate,
    score_estimate,
)
from arena.stats.quantiles import normal_quantile, t_quantile
from arena.stats.score_checks import (
    CheckStatus,
    min_observations,
    score_at_least,
    score_at_least_anytime,
)
from arena.stats.spread import QUARTERS, spread, spread_fixed_openings
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
    assert found.effective_pairs == pytest.approx(50, rel=0.03)


def test_enough_openings_give_nearly_the_cluster_t_interval():
    scores = [0.0, 0.25, 0.5, 0.75, 1.0] * 40
    found = spread(range(200), scores)
    score = score_estimate(range(200), scores)
    reach = t_quantile(0.975, 199.0) * np.std(scores, ddof=1) / math.sqrt(200)
    assert found.dof == pytest.approx(199)
    # The added half of a lost pairing costs 2 % of width.
    assert reach < 0.5 - score.low < 1.02 * reach
    assert score.high == pytest.approx(1 - score.low)
    assert score.kind is EstimateKind.FIXED


def test_one_loss_in_five_hundred_bounds_both_sides():
    score = score_estimate(range(500), [1.0] * 499 + [0.5])
    assert score.low == pytest.approx(0.9935, abs=5e-5)
    assert 0.9999 < score.high < 1.0


def test_few_openings_that_carry_the_losses_count_for_less():
    openings = np.repeat(np.arange(10), 20)
    rng = np.random.default_rng(8)
    even = spread(openings, (rng.random(200) < 0.9).astype(float))
    assert even.effective_pairs > 100
    scores = np.ones(200)
    scores[:20] = [0.0, 1.0] * 10  # all that was lost, was lost on one opening
    assert spread(openings, scores).effective_pairs <= 10


def noisy_openings(losses, pairings=20):
    """Return the spread of openings on which this many of the pairs are lost, the others won."""
    scores = [[0.0] * lost + [1.0] * (pairings - lost) for lost in losses]
    return spread(np.repeat(np.arange(len(losses)), pairings), np.ravel(scores))


def test_noisy_pairings_leave_room_for_a_bad_opening_that_was_not_met():
    # By the rule word for word, solved another way; by pairings alone the ends are too high: .6913
    # of the interval, .7094 and .6488 of the bounds at 95 and 99 %.
    found = noisy_openings([2] * 8 + [3, 1, 10, 12])
    assert found.effective_pairs == pytest.approx(55.07119, abs=1e-4)
    assert sum(found.opening_masses) == pytest.approx(12)
    assert interval(found, 0.025) == pytest.approx((0.688258, 0.921214), abs=1e-5)
    assert lower_bound(found, 0.95) == pytest.approx(0.707913, abs=1e-5)
    assert lower_bound(found, 0.99) == pytest.approx(0.626292, abs=1e-5)


def test_openings_of_unequal_weight_make_up_as_many_as_have_their_error():
    rng = np.random.default_rng(11)
    sizes = np.array([2, 20] * 10)
    names = np.repeat(np.arange(20), sizes)
    strengths = rng.beta(2.0, 1.0, 20)[names]
    found = spread(names, (rng.random(220) < strengths).astype(float))
    masses, scores = np.array(found.opening_masses), np.array(found.opening_scores)
    assert masses @ scores / masses.sum() == pytest.approx(found.mean)
    variance = masses @ np.square(scores - found.mean) / masses.sum()
    share = np.bincount(names) / 220
    assert masses.sum() == pytest.approx(variance / (1 - share @ share) / found.se**2, rel=1e-3)


def test_two_openings_that_carry_the_losses_are_trusted_a_third():
    found = noisy_openings([10, 10] + [0] * 8)
    plain = found.variance * 200 / 199 / found.se**2
    assert found.effective_pairs == pytest.approx(10 ** (2 / 3) * plain ** (1 / 3))
    four = noisy_openings([10] * 4 + [0] * 8)  # and four of them wholly
    assert four.effective_pairs == pytest.approx(four.variance * 240 / 239 / four.se**2)


def test_exactly_these_openings_have_an_error_of_their_own():
    rng = np.random.default_rng(9)
    openings = np.repeat(np.arange(4), 50)
    strengths = np.repeat([0.1, 0.3, 0.7, 0.9], 50)
    scores = (rng.random(200) < strengths).astype(float)
    these, like = spread_fixed_openings(openings, scores), spread(openings, scores)
    inside = [scores[openings == place].var(ddof=1) / 50 for place in range(4)]
    assert these.se == pytest.approx(math.sqrt(sum(inside)) / 4)
    assert these.scope is Scope.THESE
    assert these.effective_pairs > 200 > like.effective_pairs
    assert these.se < like.se / 2
    narrow, wide = (estimate_from_spread(each) for each in (these, like))
    assert narrow.high - narrow.low < 0.2 < wide.high - wide.low


def test_an_opening_met_once_takes_the_pooled_variance():
    found = spread_fixed_openings([0, 0, 0, 1, 1, 2], [0.0, 1.0, 0.5, 0.5, 1.0, 1.0])
    pooled = (0.5 + 0.125) / 3
    parts = [(3 / 6) ** 2 * 0.25 / 3, (2 / 6) ** 2 * 0.125 / 2, (1 / 6) ** 2 * pooled]
    assert found.se == pytest.approx(math.sqrt(sum(parts)))
    expected = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 + parts[2] ** 2 / 3)
    assert found.dof == pytest.approx(expected)
    assert spread_fixed_openings(range(5), [0.5] * 5) is None


def test_one_opening_of_noisy_bots_has_an_answer_for_exactly_this_opening():
    # Regression: "no inference" after 2,000 distinct games.
    scores = np.random.default_rng(10).choice(5, size=1000) / 4
    found = estimate_from_spread(spread_fixed_openings([7] * 1000, scores))
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.3536 / math.sqrt(1000), rel=0.05)
    assert found.scope is Scope.THESE


def test_openings_that_never_varied_leave_room_for_one_that_does():
    # Half of the openings won, half lost, 20 times each: the share of other results is unseen.
    openings, scores = np.repeat(np.arange(10), 20), np.repeat([1.0, 0.0] * 5, 20)
    found = estimate_from_spread(spread_fixed_openings(openings, scores))
    unseen = 1 - 0.025 ** (1 / 200)
    assert (found.low, found.high) == pytest.approx((0.5 - unseen, 0.5 + unseen))


def test_games_that_never_varied_bound_the_share_that_does():
    found = no_variation_estimate(0.75, 8)
    share = 1 - 0.05 ** (1 / 8)  # 31 %
    assert (found.low, found.high) == pytest.approx((0.75 * (1 - share), 0.75 + 0.25 * share))
    assert found.reason == "no game varied in 8 repeats: at most 31 % do"


@pytest.mark.parametrize("wins", [1, 3, 10, 50, 97, 99])
def test_wins_and_losses_give_the_interval_of_clopper_and_pearson(wins):
    # As one-sided bounds of openings, by a quantile of nearly the normal law.
    scores = [1.0] * (20 * wins) + [0.0] * (2000 - 20 * wins)
    exact = clopper_pearson(20 * wins, 2000, 0.90)
    found = spread(range(2000), scores)
    mirrored = spread(range(2000), [1 - score for score in scores])
    assert lower_bound(found) == pytest.approx(exact.low, abs=3e-4)
    assert 1 - lower_bound(mirrored) == pytest.approx(exact.high, abs=3e-4)


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


def test_openings_that_only_agree_in_the_mean_are_not_alike():
    # Every opening has one win and one loss: chance is at work, though no error is seen.
    found = spread(np.repeat(range(20), 2), [0.0, 1.0] * 20)
    assert found.se == 0.0
    assert found.effective_pairs == 40


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
    assert score.reason == "needs 10 openings, has 2"


def test_the_interval_of_one_dominant_opening_is_wide():
    openings, scores = [0] * 100 + list(range(1, 10)), [1.0] * 100 + [0.5] * 9
    found = spread(openings, scores)
    assert found.dof < 1.5
    assert interval(found, 0.025).low == 0


def verdict_of(openings, scores, wanted, **how):
    return score_at_least(spread(openings, scores), wanted, **how).verdict


def test_a_check_needs_openings_and_a_bound():
    assert verdict_of(range(9), [1.0] * 9, 0.5) is CheckStatus.VACUOUS
    assert verdict_of([], [], 0.5) is CheckStatus.VACUOUS
    passed = score_at_least(spread(range(10), [1.0] * 10), 0.74)
    assert (passed.verdict, passed.bound) == (CheckStatus.PASSED, pytest.approx(0.05**0.1))
    assert verdict_of(range(11), [0.75] * 11, 0.75) is CheckStatus.FAILED
    assert verdict_of(range(10), [0.0] * 10, 0.01) is CheckStatus.FAILED
    assert score_at_least(spread([3] * 10, [1.0] * 10), 0.01, min_distinct=1).bound == 0.0


def test_a_check_that_no_result_could_satisfy_is_vacuous():
    found = score_at_least(spread(range(10), [1.0] * 10), 0.9)
    assert (found.verdict, found.reason) == (CheckStatus.VACUOUS, "needs 29 openings, has 10")
    assert verdict_of(range(29), [1.0] * 29, 0.9) is CheckStatus.PASSED
    hopeless = score_at_least(spread(range(500), [1.0] * 500), 1.0)
    assert hopeless.reason == "no result can show a score of 100 %"
    live = min_observations(0.9, 0.95, looks=True)
    enough, short = spread(range(live), [1.0] * live), spread(range(live - 1), [1.0] * (live - 1))
    assert live > 29
    assert score_at_least_anytime(enough, [0, 0, 0, 0, live], 0.9).verdict is CheckStatus.PASSED
    assert score_at_least_anytime(short, [0, 0, 0, 0, live - 1], 0.9).verdict is CheckStatus.VACUOUS


def test_a_check_of_a_census_compares_exactly():
    scores = [1.0] * 11 + [0.5]
    assert verdict_of(range(12), scores, 0.95, census=True) is CheckStatus.PASSED
    assert verdict_of(range(12), scores, 0.96, census=True) is CheckStatus.FAILED
    assert verdict_of(range(12), scores, 0.70) is CheckStatus.PASSED


def test_a_check_adds_a_whole_lost_pairing_to_one_side():
    scores = [0.25, 0.5, 0.75, 1.0] * 10
    found = spread(range(40), scores)
    plain = found.mean - t_quantile(0.95, 39.0) * found.se
    assert plain - 0.02 < lower_bound(found) < plain
    assert lower_bound(found) > interval(found, 0.025).low


def test_scores_outside_the_scale_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        spread([0], [1.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        spread([0], [math.nan])


def test_no_pairing_is_an_empty_spread():
    assert (spread([], []).pairs, spread_fixed_openings([], [])) == (0, None)
    assert score_estimate([], []).value is None


def test_under_five_points_lost_or_won_an_interval_is_lopsided():
    for lost, expected in (([0.0] * 5, False), ([0.0] * 4 + [0.25], True)):
        scores = np.array([*lost, *[1.0] * (40 - len(lost))])
        assert needs_exact_interval(spread(np.arange(40), scores)) == expected
        assert needs_exact_interval(spread(np.arange(40), 1.0 - scores)) == expected


def test_a_check_is_never_stricter_than_the_interval_of_its_level():
    # Regression: a bound of 49.9 % with an interval from 50.1 %.
    scores = [0.5, 1.0, 1.0, 0.75, 1.0, 1.0, 0.5, 0.5, 0.25, 0.5, 1.0, 0.5, 0.5, 0.5]
    found = spread(range(len(scores)), scores)
    assert lower_bound(found) >= interval(found, 0.025).low > 0.5


Z = normal_quantile(0.975)


def naive_end(masses, quantile, added):
    """The rule word for word: for each candidate the multiplier by bisection, then the root."""
    law = [(0.0, added), *((a, c) for a, c in zip(QUARTERS, masses, strict=True) if c > 0)]

    def root(mean):
        gaps = [(a - mean, c) for a, c in law]
        low, high = (1 - 1e-15) / min(gap for gap, _ in gaps), 0.0
        for _ in range(100):
            middle = (low + high) / 2
            rising = sum(c * gap / (1 - middle * gap) for gap, c in gaps) > 0
            low, high = (low, middle) if rising else (middle, high)
        ratio = 2 * sum(c * math.log(1 - low * gap) for gap, c in gaps)
        leverage = -low * math.sqrt(sum(c * (gap / (1 - low * gap)) ** 2 for gap, c in gaps))
        return math.sqrt(ratio) + math.log(leverage / math.sqrt(ratio)) / math.sqrt(ratio)

    low, high = 0.0, sum(a * c for a, c in law) / sum(c for _, c in law) * (1 - 1e-4)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if root(middle) > quantile else (low, middle)
    return low


@given(st.lists(st.integers(0, 30), min_size=5, max_size=5).filter(lambda c: sum(c[1:]) > 0))
def test_the_end_is_that_of_the_rule(masses):
    for added in (0.5, 1.0):
        expected = naive_end(masses, Z, added)
        assert empirical_likelihood_bound(QUARTERS, masses, Z, added) == pytest.approx(
            expected, abs=1e-6
        )


@pytest.mark.parametrize(
    ("wins", "n", "low", "high"),
    [(1, 10, 0.0025, 0.4456), (5, 10, 0.1870, 0.8130), (3, 1000, 0.00062, 0.00875)],
)
def test_wins_and_losses_are_bounded_nearly_as_by_clopper_and_pearson(wins, n, low, high):
    masses = [n - wins, 0, 0, 0, wins]
    assert empirical_likelihood_bound(QUARTERS, masses, Z, 1.0) == pytest.approx(low, abs=5e-5)
    assert 1 - empirical_likelihood_bound(QUARTERS, masses[::-1], Z, 1.0) == pytest.approx(
        high, abs=5e-5
    )


@pytest.mark.parametrize("repeats", [1, 9])
def test_a_bad_opening_is_not_added_twice_where_openings_are_the_observations(repeats):
    scores = np.repeat([1.0] * 19 + [0.5], repeats)
    assert not spread(np.repeat(range(20), repeats), scores).opening_masses
