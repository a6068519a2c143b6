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
    """Shares of the mixture by regret matching plus, two players in turn, linear averaging.

    Tammelin, Burch, Johanson and Bowling, "Solving heads-up limit Texas hold'em" (2015); 4,000
    steps leave about a ten-thousandth of a point to whoever plays against it.
    """
    agents = len(payoff)
    regrets = np.zeros((2, agents))
    mixtures = np.full((2, agents), 1.0 / agents)
    average = np.zeros(agents)
    tables = payoff, -payoff.T
    for step in range(1, steps + 1):
        before = regrets.copy()
        for player, table in enumerate(tables):
            gains = table @ mixtures[1 - player]
            regrets[player] += gains - mixtures[player] @ gains
            np.maximum(regrets[player], 0.0, out=regrets[player])
            total = regrets[player].sum()
            mixtures[player] = regrets[player] / total if total > 0.0 else 1.0 / agents
        if settled(tables, mixtures):
            average += (steps - step + 1) * (steps + step) / 2 * mixtures.sum(axis=0)
            break
        if unmoved(before, regrets):
            further = np.arange(step, steps + 1)[:, None] * mixtures.sum(axis=0)
            # One after the other, as the steps would add them: not a bit is another.
            average = np.cumsum(np.vstack([average, further]), axis=0)[-1]
            break
        average += step * mixtures.sum(axis=0)
    return np.asarray(average / average.sum())


def settled(tables: tuple[Floats, Floats], mixtures: Floats) -> bool:
    """Whether both play one agent and neither regrets it: so it stays in all further steps."""
    first, second = mixtures.argmax(axis=1)
    if mixtures[0, first] < 1.0 or mixtures[1, second] < 1.0:
        return False
    gains = tables[0][:, second], tables[1][:, first]
    return bool(gains[0].max() <= gains[0][first] and gains[1].max() <= gains[1][second])


def unmoved(before: Floats, after: Floats) -> bool:
    """Whether a step left all regrets as they were: so do all further steps."""
    return np.array_equal(before, after)
