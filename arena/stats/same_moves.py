"""How often two agents choose the same move, beside what playing well alone would explain.

Good moves are chosen by many, so who plays well agrees with everybody. How much is expected of
two agents follows from how often each agrees with the others, and the others among themselves: on
the log-odds scale the agents' effects add up, as in an analysis of variance without interaction
(Tukey, "One degree of freedom for non-additivity", 1949, is the test of such a residual).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Choices = NDArray[np.int64]  # the move of every agent (row) in every position (column)
Table = NDArray[np.float64]

# One choice in a hundred may differ: a copy that was given another default, or a little noise.
SAME_SHARE = 0.99
ERROR = 0.001  # that any pair of independent agents of a run is called one player
FEWEST = 4  # agents, so that two have others to be compared with


class Agreement(NamedTuple):
    """Two agents, by their places: equal moves, the share that is expected of such players."""

    a: int
    b: int
    positions: int
    equal: int
    expected: float
    log_chance: float  # of so many equal moves or more by independent agents, at most
    same: bool

    @property
    def share(self) -> float:
        """The share of equal moves."""
        return self.equal / self.positions


def agreements(choices: Choices, agents: int) -> list[Agreement]:
    """Every pair of the first `agents` rows; further rows are only there to be compared with."""
    if len(choices) < FEWEST:
        raise ValueError(f"at least {FEWEST} agents are compared, got {len(choices)}")
    size = choices.shape[1]
    equal = (choices[:, None, :] == choices[None, :, :]).sum(axis=2)
    odds = np.log((equal + 0.5) / (size - equal + 0.5))
    pairs = [(a, b) for a in range(agents) for b in range(a + 1, agents)]
    found = []
    for a, b in pairs:
        expected = _expected(odds, a, b)
        log_chance = log_tail(size, int(equal[a, b]), expected)
        same = equal[a, b] >= SAME_SHARE * size and log_chance < math.log(ERROR / len(pairs))
        found.append(Agreement(a, b, size, int(equal[a, b]), expected, log_chance, bool(same)))
    return found


def _expected(odds: Table, a: int, b: int) -> float:
    """The share expected of two agents from all other pairs; their own says nothing in it."""
    others = [each for each in range(len(odds)) if each not in (a, b)]
    among = odds[np.ix_(others, others)][~np.eye(len(others), dtype=np.bool_)]
    total = odds[a, others].mean() + odds[b, others].mean() - among.mean()
    return 1.0 / (1.0 + math.exp(-float(total)))


def log_tail(size: int, equal: int, mean: float) -> float:
    """Log of a bound on the chance of `equal` or more successes with this mean chance.

    Chernoff's bound; by Hoeffding, "On the distribution of the number of successes in independent
    trials" (1956), chances that differ from position to position only make the tail lighter.
    """
    share = equal / size
    if share <= mean:
        return 0.0
    surprise = share * math.log(share / mean)
    if share < 1.0:
        surprise += (1.0 - share) * math.log((1.0 - share) / (1.0 - mean))
    return -size * surprise


def groups(found: list[Agreement]) -> list[tuple[int, ...]]:
    """The agents that are one player, two or more of them together, by their places."""
    together: dict[int, set[int]] = {}
    for each in found:
        if each.same:
            joined = together.get(each.a, {each.a}) | together.get(each.b, {each.b})
            together |= dict.fromkeys(joined, joined)
    return sorted({tuple(sorted(some)) for some in together.values()})
