"""Properties that hold for any results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.intervals import lower_bound, score_estimate
from arena.stats.match_estimate import estimate_match, mirror_estimate
from arena.stats.spread import spread

HALVES = st.sampled_from([0.0, 0.5, 1.0])
PAIRINGS = st.lists(st.tuples(st.integers(0, 14), HALVES, HALVES), min_size=1, max_size=40)


def row_of(pairings, **how):
    openings, first, second = zip(*pairings, strict=True)
    return estimate_match(openings, first, second, **how)


def ends(estimate, bottom=-1e9, top=1e9):
    low = bottom if estimate.low is None else estimate.low
    high = top if estimate.high is None else estimate.high
    return low, high


def width(estimate):
    low, high = ends(estimate, 0.0, 1.0)
    return high - low


@given(PAIRINGS)
def test_swapping_the_agents_negates_every_number(pairings):
    mine = row_of(pairings)
    theirs = row_of([(opening, 1 - second, 1 - first) for opening, first, second in pairings])
    mirrored = mirror_estimate(mine)
    assert mirrored.counts == theirs.counts
    for name in ("elo", "score", "first_mover"):
        one, other = getattr(mirrored, name), getattr(theirs, name)
        assert (one.value, *ends(one)) == pytest.approx((other.value, *ends(other)), abs=1e-6)
        assert one.kind is other.kind
    assert mirrored.superiority == pytest.approx(theirs.superiority, abs=1e-9)
    one, other = mirrored.answer.spread, theirs.answer.spread
    assert (one.se, one.dof, one.mean) == pytest.approx((other.se, other.dof, other.mean))
    assert one.score_masses == pytest.approx(other.score_masses)


@given(PAIRINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_pairings_never_matters(pairings, random):
    shuffled = pairings.copy()
    random.shuffle(shuffled)
    assert row_of(shuffled) == row_of(pairings)


@given(PAIRINGS, st.integers(0, 20))
def test_a_further_pairing_won_twice_never_lowers_the_winner(pairings, opening):
    before, after = row_of(pairings), row_of([*pairings, (opening, 1.0, 1.0)])
    assert after.score.value >= before.score.value
    if before.elo.value is not None and after.elo.value is not None:
        assert after.elo.value >= before.elo.value - 1e-9


@given(PAIRINGS, st.integers(1, 4))
def test_playing_every_pairing_again_moves_no_score_and_makes_no_openings(pairings, times):
    # The interval may narrow: games of noisy agents that come out alike show that there is
    # little noise.  What is known to be a replay is another matter: see below.
    once, often = row_of(pairings), row_of(pairings * times)
    assert often.score.value == pytest.approx(once.score.value)
    assert often.counts.openings == once.counts.openings


@given(PAIRINGS, st.lists(st.integers(0, 39), max_size=30))
def test_a_replay_never_narrows_an_interval(pairings, places):
    # Deterministic agents repeat the pair of an opening exactly.
    known = {opening: (opening, first, second) for opening, first, second in pairings}
    played = [known[opening] for opening, _, _ in pairings]
    replayed = played + [played[place % len(played)] for place in places]
    tables = []
    for pairs in (played, replayed):
        openings, first, second = (np.array(column) for column in zip(*pairs, strict=True))
        fresh = np.zeros(len(openings), np.bool_)
        fresh[np.unique(openings, return_index=True)[1]] = True
        tables.append(score_estimate(openings[fresh], (first + second)[fresh] / 2))
    assert tables[0] == tables[1]


@given(PAIRINGS)
def test_the_value_is_in_its_interval_and_the_interval_on_the_scale(pairings):
    for estimate in (row_of(pairings).score, row_of(pairings).first_mover):
        low, high = ends(estimate, 0.0, 1.0)
        assert 0.0 <= low <= estimate.value <= high <= 1.0
        assert estimate.low is None or estimate.low > 0.0
        assert estimate.high is None or estimate.high < 1.0


@given(PAIRINGS)
def test_a_higher_level_never_narrows_an_interval(pairings):
    assert width(row_of(pairings, level=0.99).score) >= width(row_of(pairings).score) - 1e-12


@given(PAIRINGS)
def test_a_one_sided_bound_is_inside_the_interval(pairings):
    openings, first, second = (np.array(column) for column in zip(*pairings, strict=True))
    found = spread(openings, (first + second) / 2)
    two_sided = score_estimate(openings, (first + second) / 2)
    assert lower_bound(found) >= (two_sided.low or 0.0) - 1e-12


@given(PAIRINGS)
def test_effective_size_lies_between_one_and_the_pairings(pairings):
    assert 1.0 <= row_of(pairings).like.effective_pairs <= len(pairings)
