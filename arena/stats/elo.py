"""Elo differences between two agents, from their score."""

import math
from collections.abc import Sequence

from arena.stats.estimate import FEW_OPENINGS, Estimate, EstimateKind, no_estimate, transform
from arena.stats.quantiles import t_cdf
from arena.stats.spread import Spread

ELO_PER_SIGMA = 800.0 / math.log(10.0)
NATURAL = math.log(10.0) / 400.0
# With fewer points, Student's t says too little about which agent is stronger.
FEW_POINTS = 5.0


def elo_from_score(score: float) -> float:
    """Return the Elo difference at which the expected score per game is `score`, 0 < score < 1."""
    # 0 + x, so that an even score never prints as -0.
    return 0.0 - 400.0 * math.log10(1.0 / score - 1.0)


def score_from_elo(elo: float) -> float:
    """Return the expected score per game at an Elo difference."""
    if elo < 0.0:
        odds = math.exp(NATURAL * elo)
        return odds / (1.0 + odds)
    return 1.0 / (1.0 + math.exp(-NATURAL * elo))


def elo_estimate(score: Estimate) -> Estimate:
    """Return logistic Elo with the interval of the score; None at 0 and 100 %."""
    if score.kind is EstimateKind.NONE:
        return no_estimate(score.reason, level=score.level, scope=score.scope)
    return transform(score, lambda s: elo_from_score(s) if 0.0 < s < 1.0 else None)


def normalized_elo(score: float, variance: float, games_per_observation: int = 2) -> float:
    """Return normalized Elo: the excess score over the standard deviation of one game.

    `variance` is that of one observation, a pair (2 games) or a game (fishtest, fastchess).
    """
    return ELO_PER_SIGMA * (score - 0.5) / math.sqrt(games_per_observation * variance)


def normalized_elo_estimate(score: Estimate, variance: float) -> Estimate:
    """Return normalized Elo of pair scores with the interval of the score, at this variance."""
    if variance <= 0.0 or score.value is None:
        return no_estimate(score.reason, level=score.level, scope=score.scope)
    return transform(score, lambda s: normalized_elo(s, variance))


def needs_exact_interval(found: Spread) -> bool:
    """Return whether the score is too far from normal for Student's t."""
    points = found.openings * min(found.mean, 1.0 - found.mean)
    # Slightly below 5, so that rounding does not decide.
    return found.openings < FEW_OPENINGS or points < FEW_POINTS - 1e-9


def likelihood_of_superiority(found: Spread) -> float | None:
    """Return a confidence from 0 to 1 that the agent is stronger, by Student's t.

    None if there are too few openings or points for Student's t.
    """
    if found.openings < 2 or found.se == 0.0 or needs_exact_interval(found):
        return None
    return t_cdf((found.mean - 0.5) / found.se, found.dof)


def moments(counts: Sequence[float]) -> tuple[float, float, float]:
    """Return number, mean and variance (divisor n) of counts over equally spaced scores 0 to 1.

    Three counts are losses, draws and wins; five are a pentanomial.
    """
    n = float(sum(counts))
    top = len(counts) - 1
    if n == 0.0:
        raise ValueError("no games: there is no mean")
    mean = sum(c * i / top for i, c in enumerate(counts)) / n
    variance = sum(c * (i / top - mean) ** 2 for i, c in enumerate(counts)) / n
    return n, mean, variance
