"""Which ratings exist: finite ones need results in both directions."""

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints

Flags = npt.NDArray[np.bool_]


class FirstMove(StrEnum):
    """Whether results determine the value of the first move, and if not, why."""

    FITTED = "fitted"
    ALWAYS_WINS = "first mover won every game"
    ALWAYS_LOSES = "second mover won every game"
    UNBOUNDED = "first-move advantage has no finite value"
    UNKNOWN = "first-move advantage cannot be told from strength"
    IGNORED = "first-move advantage not estimated"


def beats(games: Floats, points: Floats) -> Flags:
    """Who scored against whom: at least one win or draw, in either seat."""
    as_second = games - points
    return (points > 0.0) | (as_second.T > 0.0)


def reachable(edges: Flags) -> Flags:
    """Transitive closure of a relation, every agent reaching itself."""
    closed = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        # Numbers multiply far faster than truth values.
        steps = closed.astype(np.float32)
        further = (steps @ steps) > 0.0
        if np.array_equal(further, closed):
            return closed
        closed = further


def components(reach: Flags) -> list[Ints]:
    """Strongly connected components of a closure; one that beats another comes first."""
    mutual = reach & reach.T
    leaders = np.unique(np.argmax(mutual, axis=1))
    # A component that beats another reaches all that the other reaches, and more.
    order = sorted(leaders.tolist(), key=lambda leader: (-int(reach[leader].sum()), leader))
    return [np.flatnonzero(mutual[leader]) for leader in order]


def islands(edges: Flags) -> Ints:
    """Number of each agent's island: no game joins two islands."""
    joined = reachable(edges | edges.T)
    leaders = np.argmax(joined, axis=1)
    return np.unique(leaders, return_inverse=True)[1].ravel().astype(np.int64)


def first_move(games: Floats, points: Floats) -> FirstMove:
    """Whether the first-move advantage of a strongly connected pool has a finite value.

    It has if some cycle of "took points from" has more steps by first movers than by second
    movers, and some cycle has fewer.
    """
    by_first, by_second = points > 0.0, (games - points).T > 0.0
    grows = _more_first(by_first, by_second)
    shrinks = _more_first(by_second, by_first)
    if grows and shrinks:
        return FirstMove.FITTED
    if not grows and not shrinks:
        return FirstMove.UNKNOWN
    if grows and not by_second.any():
        return FirstMove.ALWAYS_WINS
    if shrinks and not by_first.any():
        return FirstMove.ALWAYS_LOSES
    return FirstMove.UNBOUNDED


def _more_first(plus: Flags, minus: Flags) -> bool:
    """Whether some cycle has more steps in `plus` than in `minus` (Bellman and Ford)."""
    if np.any(plus & plus.T):
        return True
    gain = np.where(plus, 1.0, np.where(minus, -1.0, -np.inf))
    best = np.zeros(len(gain))
    for _ in range(len(gain)):
        longer = np.maximum(best, (best[:, None] + gain).max(axis=0))
        if np.array_equal(longer, best):
            return False
        best = longer
    return True
