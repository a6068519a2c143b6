"""The normal, Student t and beta distributions."""

import math
from functools import lru_cache
from statistics import NormalDist

_STANDARD = NormalDist()
_TINY = 1e-300
_NEARLY_NORMAL = 1e6
Z_95 = 1.959964  # half-width of a normal 95 % interval in standard errors


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal variable is at most `x`."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """Return the value that a standard normal exceeds with probability 1 - p; 0 < p < 1."""
    return _STANDARD.inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); NIST DLMF 8.17.22 and 8.17.4."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    front = math.exp(log_front)
    # The fraction converges fast only on the near side of the mean.
    if x < (a + 1.0) / (a + b + 2.0):
        return front / (a * _beta_fraction(x, a, b))
    return 1.0 - front / (b * _beta_fraction(1.0 - x, b, a))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of NIST DLMF 8.17.22 (modified Lentz algorithm)."""
    value = 1.0
    ahead = 1.0
    behind = 0.0
    for step in range(1, 100_000):
        term = _beta_term(step, x, a, b)
        behind = 1.0 / (1.0 + term * behind or _TINY)
        ahead = 1.0 + term / ahead or _TINY
        change = ahead * behind
        value *= change
        if abs(change - 1.0) < 1e-15:
            break
    return value


def _beta_term(step: int, x: float, a: float, b: float) -> float:
    """Return the coefficient d_step of NIST DLMF 8.17.23."""
    m = step // 2
    if step % 2 == 0:
        return m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))


def t_cdf(t: float, dof: float) -> float:
    """Return the probability that Student's t with `dof` degrees of freedom is at most `t`."""
    if dof > _NEARLY_NORMAL:
        return normal_cdf(t * (1.0 - 0.25 / dof))
    # NIST DLMF 8.17 with Abramowitz and Stegun 26.5.27.
    tail = 0.5 * beta_cdf(dof / (dof + t * t), 0.5 * dof, 0.5)
    return tail if t < 0.0 else 1.0 - tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, dof: float) -> float:
    """Return the value that Student's t with `dof` degrees of freedom exceeds with chance 1 - p."""
    if p < 0.5:
        return -t_quantile(1.0 - p, dof)
    z = normal_quantile(p)
    if dof > _NEARLY_NORMAL:
        return z + (z**3 + z) / (4.0 * dof)  # Abramowitz and Stegun 26.7.5
    # A t quantile is never nearer to zero than the normal one.
    low, high = z, max(2.0 * z, 1.0)
    while t_cdf(high, dof) < p:
        low, high = high, 2.0 * high
    return _invert_t_cdf(p, dof, low, high)


def _invert_t_cdf(p: float, dof: float, low: float, high: float) -> float:
    """Solve t_cdf(t, dof) = p between `low` and `high` by Newton's method with bisection."""
    # Student density at t; the exponent is taken in logarithms.
    log_scale = math.lgamma(0.5 * (dof + 1)) - math.lgamma(0.5 * dof)
    t = low
    for _ in range(200):
        miss = t_cdf(t, dof) - p
        low, high = (t, high) if miss < 0.0 else (low, t)
        log_density = log_scale - 0.5 * (dof + 1) * math.log1p(t * t / dof)
        step = miss * math.sqrt(dof * math.pi) * math.exp(-log_density)
        following = t - step
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - t) <= 1e-14 * max(1.0, abs(t)):
            return following
        t = following
    return t
