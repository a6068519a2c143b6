"""The mixture of agents that no agent beats on the mean: an answer that survives cycles."""

import numpy as np

from arena.stats.counts import Floats

STEPS = 4_000


def payoffs(points: Floats, pairings: Floats) -> Floats:
    """Mean pair score of row against column, less one half; 0 where they did not meet.

    `points` are the sums of the pair scores of row against column. Few pairings are drawn
    towards even: half a point in one pairing is added.
    """
    shrunk = (points + 0.5) / (pairings + 1.0) - 0.5
    return np.asarray(np.where(pairings > 0.0, shrunk, 0.0))


def maximin(payoff: Floats, steps: int = STEPS) -> Floats:
    """Shares of the mixture by regret matching plus with linear averaging.

    Tammelin, Burch, Johanson and Bowling, "Solving heads-up limit Texas hold'em" (2015); 4,000
    steps leave about a ten-thousandth of a point to whoever plays against it.
    """
    agents = len(payoff)
    regrets, average = np.zeros(agents), np.zeros(agents)
    mixture = np.full(agents, 1.0 / agents)
    for step in range(1, steps + 1):
        gains = payoff @ mixture
        regrets = np.maximum(regrets + gains - mixture @ gains, 0.0)
        total = regrets.sum()
        mixture = regrets / total if total > 0.0 else np.full(agents, 1.0 / agents)
        average += step * mixture
    return np.asarray(average / average.sum())
