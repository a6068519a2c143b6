"""Anytime-valid intervals: betting capital, one pair per opening, repeated turns of openings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats import anytime
from arena.stats.anytime import (
    STAKES,
    anytime_estimate,
    anytime_estimate_these,
    betting_interval,
    betting_lower_bound,
    betting_upper_bound,
    log_betting_capital,
    log_betting_capital_below,
    start_anytime,
    update_anytime,
)
from arena.stats.estimate import EstimateKind, Scope
from arena.stats.intervals import interval
from arena.stats.spread import spread

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


def test_nothing_seen_excludes_nothing():
    assert tuple(map(float, betting_interval([0] * 5, 0.05))) == (0.0, 1.0)
    assert float(betting_lower_bound([7, 0, 0, 0, 0], 0.05)) == 0.0
    assert float(betting_upper_bound([0, 0, 0, 0, 9], 0.05)) == 1.0
    assert len(STAKES) == 10


def scores_of(size, seed=1):
    return np.random.default_rng(seed).choice(5, size=size, p=[0.1, 0.2, 0.3, 0.25, 0.15]) / 4


def test_how_pairings_are_cut_into_calls_makes_no_difference():
    scores = scores_of(100)
    whole = update_anytime(start_anytime(12, again=True), scores)
    pieces = start_anytime(12, again=True)
    for start, end in ((0, 5), (5, 12), (12, 40), (40, 41), (41, 100)):
        pieces = update_anytime(pieces, scores[start:end])
    for estimate in (anytime_estimate, anytime_estimate_these):
        one, other = estimate(pieces), estimate(whole)
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@pytest.mark.parametrize("openings", [1, 3])
def test_many_turns_are_few_pieces_and_the_same_as_one_by_one(openings, monkeypatch):
    scores, pieces = scores_of(1000), []
    of_piece = anytime._observe_piece
    monkeypatch.setattr(
        anytime, "_observe_piece", lambda *each: pieces.append(1) or of_piece(*each)
    )
    whole = update_anytime(start_anytime(openings, again=True), scores)
    assert len(pieces) < 12
    alone = start_anytime(openings, again=True)
    for score in scores:
        alone = update_anytime(alone, [score])
    assert (whole.pairs, whole.points, whole.first) == (1000, alone.points, alone.first)
    assert whole.repeats.sums.tolist() == alone.repeats.sums.tolist()
    assert whole.repeats.squares.tolist() == alone.repeats.squares.tolist()
    assert whole.repeats.score_counts.tolist() == alone.repeats.score_counts.tolist()
    assert whole.repeats.last_turn == pytest.approx(alone.repeats.last_turn)
    assert whole.repeats.interval == pytest.approx(alone.repeats.interval)


def test_only_the_first_pairing_on_an_opening_is_a_new_observation():
    scores = scores_of(30)
    once = anytime_estimate(update_anytime(start_anytime(30, again=False), scores))
    reach = betting_interval(np.bincount((4 * scores).astype(int), minlength=5), 0.05)
    assert (once.low, once.high) == pytest.approx((float(reach.low), float(reach.high)))
    assert once.kind is EstimateKind.ANYTIME
    # 36 pairings later, no turn being the second, it is as wide as if nothing had been added.
    first = anytime_estimate(update_anytime(start_anytime(30, again=True), scores))
    later = anytime_estimate(update_anytime(start_anytime(30, again=True), [*scores, *scores[:29]]))
    assert (later.low, later.high) == pytest.approx((first.low, first.high))
    assert first.high - first.low > once.high - once.low  # half of alpha is kept for the turns


def test_after_two_turns_the_interval_by_openings_is_used_as_well():
    scores = scores_of(80)
    found = anytime_estimate(update_anytime(start_anytime(40, again=True), scores))
    reach = betting_interval(np.bincount((4 * scores[:40]).astype(int), minlength=5), 0.025)
    ends = interval(spread(np.arange(80) % 40, scores), 0.05 / 8)
    assert found.low == pytest.approx(max(float(reach.low), ends.low))
    assert found.high == pytest.approx(min(float(reach.high), ends.high))


def test_exactly_these_openings_are_predicted_from_their_own_past():
    scores = scores_of(120)
    found = anytime_estimate_these(update_anytime(start_anytime(4, again=True), scores))
    surprise = 0.0
    for place, score in enumerate(scores):
        past = scores[place % 4 : place : 4]
        surprise += (score - (0.5 + past.sum()) / (len(past) + 1)) ** 2
    weights = 0.9 * np.array([0.01, 0.02, 0.035, 0.06, 0.1, 0.17, 0.28, 0.45, 0.7, 1.0])
    half = found.high - found.value if found.high else found.value - found.low
    earned = np.exp(weights * 120 * half - (-np.log1p(-weights) - weights) * surprise).mean()
    assert earned == pytest.approx(40.0)
    assert found.scope is Scope.THESE
    assert found.value == pytest.approx(scores.mean())


def test_nothing_is_said_before_there_is_something_to_say():
    assert anytime_estimate(start_anytime(5, again=True)).reason == "no games"
    assert (
        anytime_estimate_these(update_anytime(start_anytime(5, again=True), scores_of(9))) is None
    )
    one = update_anytime(start_anytime(1, again=True), scores_of(50))
    assert anytime_estimate(one).kind is EstimateKind.NONE
    assert anytime_estimate_these(one).has_both_ends
    assert math.isclose(anytime_estimate(one).value, float(scores_of(50).mean()))
