import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.anytime import (
    STAKES,
    betting_interval,
    betting_lower_bound,
    betting_upper_bound,
    log_betting_capital,
    log_betting_capital_below,
)

COUNTS = st.lists(st.integers(0, 60), min_size=5, max_size=5)
QUARTERS = [0.0, 0.25, 0.5, 0.75, 1.0]
LAW = np.array([0.1, 0.15, 0.4, 0.2, 0.15])


def naive_capital(scores, claim):
    """The bets one after the other, each stake its own purse; the purses are equal at first."""
    purses = [0.1] * 10
    for score in scores:
        for place, stake in enumerate((0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.65, 0.9)):
            purses[place] *= 1 + stake * (score / claim - 1)
    return sum(purses)


def in_some_order(counts):
    return [score for score, count in zip(QUARTERS, counts, strict=True) for _ in range(count)]


@given(COUNTS, st.floats(0.05, 1.0))
def test_the_capital_is_that_of_the_bets_one_by_one(counts, claim):
    expected = naive_capital(in_some_order(counts), claim)
    assert math.exp(log_betting_capital(counts, claim)) == pytest.approx(expected, rel=1e-9)
    mirrored = naive_capital([1 - score for score in in_some_order(counts)], claim)
    assert math.exp(log_betting_capital_below(counts, 1 - claim)) == pytest.approx(
        mirrored, rel=1e-9
    )


def test_a_fair_claim_earns_nothing_on_the_mean_and_exceeds_twenty_in_one_run_of_twenty_at_most():
    truth = float(LAW @ QUARTERS)
    drawn = np.random.default_rng(1).choice(5, size=(4000, 300), p=LAW)
    counts = np.cumsum(np.eye(5)[drawn], axis=1)[:, ::10]
    capital = np.exp(log_betting_capital(counts, truth))
    assert capital[:, 3].mean() == pytest.approx(1.0, abs=0.15)
    assert (capital.max(axis=1) >= 20).mean() <= 0.05


@given(COUNTS)
def test_the_ends_are_where_the_bets_have_earned_enough(counts):
    low, high = (float(end) for end in betting_interval(counts, 0.05))
    mean = np.dot(counts, QUARTERS) / max(sum(counts), 1)
    assert 0.0 <= low <= mean + 1e-12 or sum(counts) == 0
    if low > 0.0:
        assert float(log_betting_capital(counts, low)) == pytest.approx(math.log(40), abs=1e-6)
    if high < 1.0:
        assert float(log_betting_capital_below(counts, high)) == pytest.approx(
            math.log(40), abs=1e-6
        )


def test_many_questions_at_once_are_the_same_questions():
    counts = np.random.default_rng(2).integers(0, 40, size=(6, 4, 5))
    whole = log_betting_capital(counts, 0.5)
    assert whole[3, 2] == log_betting_capital(counts[3, 2], 0.5)
    assert betting_lower_bound(counts, 0.05)[5, 1] == betting_lower_bound(counts[5, 1], 0.05)
    assert betting_upper_bound(counts, 0.05)[5, 1] == betting_upper_bound(counts[5, 1], 0.05)


def test_the_widths_are_those_of_the_reference():
    # Half-widths in points at K = 10, 100, 1000 of an even match whose fixed interval is 21.0
    # at 10 (the reference, section 3.4: 31.1, 10.8, 3.6).
    variance = 10 * (0.21 / 1.96) ** 2
    law = np.array([2 * variance, 0.0, 1 - 4 * variance, 0.0, 2 * variance])
    rng = np.random.default_rng(5)
    for size, expected in ((10, 0.311), (100, 0.108), (1000, 0.036)):
        reach = betting_interval(rng.multinomial(size, law, size=200), 0.05)
        assert float((reach.high - reach.low).mean()) / 2 == pytest.approx(expected, rel=0.05)


def test_scores_other_than_quarters_may_be_bet_on():
    seen = [3, 4, 5]
    assert math.exp(log_betting_capital(seen, 0.4, (0.1, 0.5, 0.9))) == pytest.approx(
        naive_capital([0.1] * 3 + [0.5] * 4 + [0.9] * 5, 0.4)
    )


def test_nothing_seen_excludes_nothing():
    assert tuple(map(float, betting_interval([0] * 5, 0.05))) == (0.0, 1.0)
    assert float(betting_lower_bound([7, 0, 0, 0, 0], 0.05)) == 0.0
    assert float(betting_upper_bound([0, 0, 0, 0, 9], 0.05)) == 1.0
    assert len(STAKES) == 10
