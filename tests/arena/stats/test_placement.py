"""Ratings by pairs against anchors with known errors: values, bounds, coverage."""

import numpy as np
import pytest

from arena.stats.placement import (
    ALL_LOST,
    ALL_WON,
    Anchors,
    half_width,
    next_anchor,
    next_pairs,
    placement,
)

ELO = np.arange(8) * 150.0
EXACT = Anchors(ELO, np.zeros((8, 8)))


def counts(**by_anchor):
    """Pairs by score, for anchors named a0 to a7."""
    table = np.zeros((8, 5), np.int64)
    for name, row in by_anchor.items():
        table[int(name[1:])] = row
    return table


def test_the_rating_explains_the_score():
    found = placement(EXACT, counts(a2=[0, 0, 50, 0, 50]))
    assert found.value == pytest.approx(300.0 + 400.0 * np.log10(3.0), abs=0.01)
    assert found.low < found.value < found.high


def test_equal_results_against_two_anchors_place_it_between_them():
    found = placement(EXACT, counts(a2=[20, 0, 60, 0, 40], a3=[40, 0, 60, 0, 20]))
    assert found.value == pytest.approx(375.0, abs=0.01)


def test_independent_pairs_have_the_width_of_binomial_games():
    score = counts(a4=[50, 0, 100, 0, 50])
    assert half_width(placement(EXACT, score)) == pytest.approx(34.2, abs=0.7)
    even = counts(a4=[0, 0, 200, 0, 0])
    assert half_width(placement(EXACT, even)) < 8.0


def test_errors_of_the_anchors_widen_the_interval():
    uncertain = Anchors(ELO, np.full((8, 8), 30.0**2))
    score = counts(a4=[50, 0, 100, 0, 50])
    exact = half_width(placement(EXACT, score))
    wide = half_width(placement(uncertain, score))
    assert wide == pytest.approx(np.hypot(exact, 1.97 * 30.0), abs=2.0)


@pytest.mark.parametrize(("score", "anchor", "reason"), [(4, 7, ALL_WON), (0, 0, ALL_LOST)])
def test_an_agent_beyond_the_scale_has_a_bound_only(score, anchor, reason):
    bounds = []
    for pairs in (20, 80):
        row = [0] * 5
        row[score] = pairs
        found = placement(EXACT, counts(**{f"a{anchor}": row}))
        assert found.value is None
        assert found.reason == reason
        known = found.low if score else found.high
        assert (found.high if score else found.low) is None
        bounds.append(abs(known - ELO[anchor]))
    assert 100.0 < bounds[0] < bounds[1]  # more pairs bound it more strongly


def test_the_next_anchor_is_the_nearest_one():
    assert ELO[next_anchor(EXACT, counts(), 4)] in (450.0, 600.0)
    assert next_anchor(EXACT, counts(a3=[10, 0, 20, 0, 50]), 20) == 4
    assert next_anchor(EXACT, counts(a7=[0, 0, 0, 0, 40]), 20) == 7
    assert next_anchor(EXACT, counts(a0=[40, 0, 0, 0, 0]), 20) == 0


def test_pairs_grow_and_end_at_the_width_or_the_limit():
    none = counts()
    assert next_pairs(none, 200, 25.0, placement(EXACT, none)) == 4
    one = counts(a4=[10, 0, 20, 0, 10])
    assert next_pairs(one, 200, 25.0, placement(EXACT, one)) == 10
    assert next_pairs(one, 43, 25.0, placement(EXACT, one)) == 3
    assert next_pairs(one, 40, 25.0, placement(EXACT, one)) == 0
    exact = counts(a4=[0, 0, 40, 0, 0])
    assert next_pairs(exact, 200, 25.0, placement(EXACT, exact)) == 0


def place(true, anchors, rng, assumed):
    """Place an agent; the true ratings of the anchors vary by their errors."""
    elo = rng.multivariate_normal(anchors.elo, anchors.covariance)
    table = counts()
    found = placement(assumed, table)
    while size := next_pairs(table, 60, 25.0, found):
        at = next_anchor(assumed, table, size)
        chance = 1.0 / (1.0 + 10.0 ** ((elo[at] - true) / 400.0))
        scores = 2 * (rng.random((2, size)) < chance).sum(axis=0)
        table[at] += np.bincount(scores, minlength=5)
        found = placement(assumed, table)
    low = -np.inf if found.low is None else found.low
    return low <= true <= (np.inf if found.high is None else found.high)


def test_intervals_cover_only_if_they_include_the_errors_of_the_anchors():
    uncertain = Anchors(ELO, np.full((8, 8), 60.0**2) + np.diag(np.full(8, 20.0**2)))
    covers = {}
    for assumed in (uncertain, EXACT):
        rng = np.random.default_rng(3)
        places = [place(510.0, uncertain, rng, assumed) for _ in range(80)]
        covers[assumed is uncertain] = np.mean(places)
    assert covers[True] >= 0.88
    assert covers[False] < 0.85
