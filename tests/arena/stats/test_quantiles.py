import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.quantiles import (
    beta_cdf,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)
from tests.arena.stats.published import beta_quantile


@pytest.mark.parametrize(
    ("p", "dof", "published"),
    # Tables of Student t, as printed in most textbooks.
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 9, 2.2622),
        (0.975, 29, 2.0452),
        (0.95, 4, 2.1318),
        (0.995, 11, 3.1058),
        (0.975, 120, 1.9799),
        (0.025, 9, -2.2622),
    ],
)
def test_t_quantiles_are_the_published_ones(p, dof, published):
    assert t_quantile(p, float(dof)) == pytest.approx(published, abs=5e-5)


def test_t_with_one_and_two_degrees_of_freedom_has_its_closed_form():
    for p in (0.6, 0.9, 0.99, 0.9999):
        assert t_quantile(p, 1.0) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-10)
        assert t_quantile(p, 2.0) == pytest.approx(
            (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))), rel=1e-10
        )


def test_t_with_many_degrees_of_freedom_is_normal_without_a_step():
    for dof in (9.99e5, 1.001e6, 1e9):
        assert t_quantile(0.975, dof) == pytest.approx(1.9599640 + 2.3723 / dof, abs=1e-7)
        assert t_cdf(1.5, dof) == pytest.approx(normal_cdf(1.5), abs=1e-6)


def test_beta_with_whole_parameters_is_a_binomial_tail():
    n, k, x = 12, 4, 0.3
    tail = sum(math.comb(n, i) * x**i * (1 - x) ** (n - i) for i in range(k, n + 1))
    assert beta_cdf(x, k, n - k + 1) == pytest.approx(tail, rel=1e-12)
    assert beta_quantile(tail, k, n - k + 1) == pytest.approx(x, rel=1e-10)


def test_the_ends_of_the_beta_are_exact():
    assert (beta_cdf(0.0, 2, 3), beta_cdf(1.0, 2, 3)) == (0.0, 1.0)
    assert (beta_quantile(0.0, 2, 3), beta_quantile(1.0, 2, 3)) == (0.0, 1.0)


@given(st.floats(0.001, 0.999), st.floats(0.8, 1e5))
def test_quantile_and_distribution_of_t_invert_each_other(p, dof):
    assert t_cdf(t_quantile(p, dof), dof) == pytest.approx(p, abs=1e-9)


@given(st.floats(0.0001, 0.9999))
def test_quantile_and_distribution_of_the_normal_invert_each_other(p):
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, abs=1e-12)
