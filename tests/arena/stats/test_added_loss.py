import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.intervals import empirical_likelihood_bound
from arena.stats.quantiles import normal_quantile

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
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


def test_no_point_bounds_nothing():
    assert empirical_likelihood_bound(QUARTERS, [5, 0, 0, 0, 0], Z, 1.0) == 0.0
