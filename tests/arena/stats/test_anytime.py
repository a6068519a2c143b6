import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.anytime import anytime_estimate, observe, watch
from arena.stats.estimate import EstimateKind

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=120)


def naive_survivors(scores, grid, alpha=0.05):
    """The recipe word for word: one candidate and one observation at a time."""
    kept = []
    for g in grid:
        up = down = 1.0
        alive, total, squares = True, 0.0, 0.0
        for t, x in enumerate(scores, start=1):
            variance = (0.25 + squares) / t
            bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))
            up *= 1 + min(bet, 0.5 / g) * (x - g)
            down *= 1 - min(bet, 0.5 / (1 - g)) * (x - g)
            alive = alive and max(0.5 * up, 0.5 * down) < 1 / alpha
            total += x
            squares += (x - (0.5 + total) / (t + 1)) ** 2
        if alive:
            kept.append(g)
    return kept


def test_the_interval_is_that_of_the_recipe():
    scores = np.random.default_rng(3).choice(5, size=150, p=[0.05, 0.2, 0.3, 0.3, 0.15]) / 4
    kept = naive_survivors(scores, [i / 2000 for i in range(1, 2000)])
    found = anytime_estimate(observe(watch(), scores))
    assert found.low == pytest.approx(kept[0] - 1 / 2000)
    assert found.high == pytest.approx(kept[-1] + 1 / 2000)
    assert found.kind is EstimateKind.ANYTIME


@given(SCORES, st.lists(st.integers(0, 120), max_size=4))
def test_cutting_the_scores_into_calls_makes_no_difference(scores, cuts):
    whole = observe(watch(), scores)
    state, start = watch(), 0
    for end in [*sorted(min(cut, len(scores)) for cut in cuts), len(scores)]:
        state = observe(state, scores[start:end])
        start = end
    assert anytime_estimate(state) == anytime_estimate(whole)
    assert np.array_equal(state.log_up, whole.log_up)
    assert np.array_equal(state.log_down, whole.log_down)


@given(SCORES)
def test_the_opponent_sees_the_mirror_image(scores):
    mine = anytime_estimate(observe(watch(), scores))
    theirs = anytime_estimate(observe(watch(), [1 - s for s in scores]))
    ends = (1 - (mine.high or 1.0), 1 - (mine.low or 0.0))
    # A candidate at the edge may fall on either side of a rounding.
    assert (theirs.low or 0.0, theirs.high or 1.0) == pytest.approx(ends, abs=1.1 / 2000)


@given(SCORES)
def test_the_interval_only_ever_narrows(scores):
    state, low, high = watch(), 0.0, 1.0
    for score in scores:
        state = observe(state, [score])
        found = anytime_estimate(state)
        assert (found.low or 0.0) >= low
        assert (found.high or 1.0) <= high
        low, high = found.low or 0.0, found.high or 1.0


def test_no_observation_has_no_interval():
    assert anytime_estimate(watch()).kind is EstimateKind.NONE


def test_perfect_results_are_one_sided():
    found = anytime_estimate(observe(watch(), np.ones(1000)))
    assert (found.value, found.high) == (1.0, None)
    assert found.low > 0.98


def test_half_widths_are_those_measured_for_an_even_match():
    rng = np.random.default_rng(7)
    widths = []
    for _ in range(40):
        state = watch()
        row = []
        for more in (50, 150, 800):
            state = observe(state, rng.choice(3, size=more, p=[0.212, 0.576, 0.212]) / 2)
            found = anytime_estimate(state)
            row.append(0.5 * (found.high - found.low))
        widths.append(row)
    assert np.mean(widths, axis=0) == pytest.approx([0.126, 0.070, 0.038], rel=0.06)


def test_bets_that_rule_out_every_mean_leave_a_finite_interval():
    scores = np.concatenate([np.zeros(300), np.ones(3000)])
    found = anytime_estimate(observe(watch(), scores))
    assert 0.0 < found.low <= found.high < 1.0
    observe(observe(watch(), scores), scores)


def test_scores_outside_the_scale_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        observe(watch(), [2.0])
