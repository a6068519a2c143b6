import math

import numpy as np
import pytest

from arena.stats import anytime
from arena.stats.anytime import (
    anytime_estimate,
    anytime_estimate_these,
    betting_interval,
    start_anytime,
    update_anytime,
)
from arena.stats.estimate import EstimateKind, Scope
from arena.stats.intervals import interval
from arena.stats.spread import spread


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
    assert (whole.pairings, whole.points, whole.first) == (1000, alone.points, alone.first)
    assert whole.turns.sums.tolist() == alone.turns.sums.tolist()
    assert whole.turns.squares.tolist() == alone.turns.squares.tolist()
    assert whole.turns.law.tolist() == alone.turns.law.tolist()
    assert whole.turns.whole == pytest.approx(alone.turns.whole)
    assert whole.turns.kept == pytest.approx(alone.turns.kept)


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
    assert anytime_estimate_these(one).two_sided
    assert math.isclose(anytime_estimate(one).value, float(scores_of(50).mean()))
