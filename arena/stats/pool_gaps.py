"""How far one pool of agents is above another that took no point from it."""

from dataclasses import dataclass

import numpy as np

from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL
from arena.stats.rating_data import Results
from arena.stats.rating_fit import Fit
from arena.stats.ratings import Pool, Ratings

_FARTHEST = 20_000.0


@dataclass(frozen=True, slots=True)
class Bridge:
    """`above` and `below` number two pools; all `games` between them were won from above.

    `at_least` is the one-sided bound on the Elo between their means, None for one opening.
    """

    above: int
    below: int
    games: int
    openings: int
    at_least: float | None
    level: float


def bridges(results: Results, ratings: Ratings) -> list[Bridge]:
    """All pairs of pools that met, in the order of the rating table."""
    found = []
    for above in range(len(ratings.pools)):
        for below in range(above + 1, len(ratings.pools)):
            bridge = _bridge(results, ratings, above, below)
            if bridge is not None:
                found.append(bridge)
    return found


def _bridge(results: Results, ratings: Ratings, above: int, below: int) -> Bridge | None:
    upper, lower = ratings.pools[above], ratings.pools[below]
    first, second = results.pair // results.agents, results.pair % results.agents
    down = np.isin(first, upper.members) & np.isin(second, lower.members)
    up = np.isin(first, lower.members) & np.isin(second, upper.members)
    crossing = down | up
    if not crossing.any():
        return None
    openings = len(np.unique(results.opening[crossing]))
    level = ratings.plan.level
    at_least = None
    if openings > 1:
        gaps = _gaps(upper, lower, (first[crossing], second[crossing]))
        # The bound of all wins (reference, section 3, rule 4), as a mean expected score.
        wanted = (1.0 - level) ** (1.0 / openings)
        at_least = _shift(gaps, results.games[crossing], wanted)
    return Bridge(above, below, int(results.games[crossing].sum()), openings, at_least, level)


def _gaps(upper: Pool, lower: Pool, movers: tuple[Ints, Ints]) -> Floats:
    """Elo by which the upper agent of each entry is ahead, the pools' means being equal."""
    rating = {m: r for pool in (upper, lower) for m, r in _rated(pool)}
    side = [1.0 if first in upper.members else -1.0 for first in movers[0].tolist()]
    ahead = [rating[f] - rating[s] for f, s in zip(*(m.tolist() for m in movers), strict=True)]
    # The first move is worth what the larger pool says.
    larger: Fit = max(upper, lower, key=lambda pool: len(pool.members)).fitted
    return np.array(side) * (np.array(ahead) + float(larger.advantage[0]))


def _rated(pool: Pool) -> list[tuple[int, float]]:
    return list(zip(pool.members, pool.fitted.ratings[0].tolist(), strict=True))


def _shift(gaps: Floats, games: Floats, wanted: float) -> float:
    """Elo to add to every gap so that the mean expected score is `wanted`."""
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(100):
        middle = 0.5 * (low + high)
        chance = 0.5 + 0.5 * np.tanh(0.5 * NATURAL * (gaps + middle))
        if float((games * chance).sum() / games.sum()) < wanted:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
