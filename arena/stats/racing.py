"""The state of a race: which agents are shown to be above others, after complete rounds.

A race asks the same questions repeatedly, so every conclusion uses the anytime-valid betting
capital. The error rate of all conclusions is divided among them (union bound). The estimated
strengths only choose the next opponents; no conclusion depends on them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arena.stats.anytime import PAIR_SCORES, log_betting_capital, log_betting_capital_below
from arena.stats.counts import Floats, Ints
from arena.stats.elo import score_from_elo

Flags = npt.NDArray[np.bool_]
MIN_PAIRS, SHARE = 4, 8  # two agents play 4 pairs in a round, later an eighth of those they have
STEPS, STEP_SIZE = 4, 0.7  # of the strengths, per round
# Further digits depend on the order of summation, which must not change a ranking.
DECIMALS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """The state after `rounds` complete rounds.

    `counts[i, j]` counts the pairs of i and j by the score of i: 0, 1/4, 1/2, 3/4, 1. `above[i, j]`
    is true once i was shown to be above j, `alike[i, j]` once both were shown to be within
    `indifference` Elo; each is wrong with probability exp(-level) at most.
    """

    level: float
    indifference: float
    limit: int  # most pairs that two agents play
    rounds: int
    counts: Ints
    strengths: Floats
    above: Flags
    alike: Flags

    @property
    def agents(self) -> int:
        """Return the number of agents."""
        return len(self.strengths)

    @property
    def pairs(self) -> Ints:
        """Return the number of pairs between each two agents."""
        return np.asarray(self.counts.sum(axis=-1))

    @property
    def log_capital(self) -> Floats:
        """Return the logarithm of the capital of bets that i is above j."""
        return log_betting_capital(self.counts, 0.5)


def start_race(agents: int, level: float, limit: int, indifference: float = 0.0) -> Race:
    """Return a race before its first round."""
    none = np.zeros((agents, agents), np.bool_)
    counts = np.zeros((agents, agents, len(PAIR_SCORES)), np.int64)
    return Race(level, indifference, limit, 0, counts, np.zeros(agents), none, none)


def update_race(state: Race, results: Iterable[tuple[int, int, npt.ArrayLike]]) -> Race:
    """Return the race after a round of (agent, other agent, counts of the agent's pair scores)."""
    counts, above, alike = state.counts.copy(), state.above.copy(), state.alike.copy()
    for one, other, seen in results:
        five = np.asarray(seen, np.int64)
        counts[one, other] += five
        counts[other, one] += five[::-1]
    # Agents that did not meet keep their conclusions.
    met = np.nonzero((counts != state.counts).any(axis=-1))
    above[met] |= log_betting_capital(counts[met], 0.5) >= state.level
    if state.indifference > 0.0:
        bound = score_from_elo(state.indifference)
        below = np.zeros_like(alike)
        below[met] = log_betting_capital_below(counts[met], bound) >= state.level
        alike |= below & below.T
    return replace(
        state,
        rounds=state.rounds + 1,
        counts=counts,
        strengths=_strengths(counts, state.strengths),
        above=above,
        alike=alike,
    )


def _strengths(counts: Ints, before: Floats) -> Floats:
    """Return penalised Bradley-Terry strengths, some steps on from those of the last round."""
    played = counts.sum(axis=-1)
    points = (counts * np.array(PAIR_SCORES)).sum(axis=-1)
    at = before
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(at[None, :] - at[:, None]))
        alone = 1.0 / (1.0 + np.exp(-at))
        slope = 2.0 * (points - played * chance).sum(axis=1) - 2.0 * (alone - 0.5)
        bend = 2.0 * (played * chance * (1.0 - chance)).sum(axis=1) + 0.5
        at = at + STEP_SIZE * np.clip(slope / bend, -1.0, 1.0)
    return np.round(at, DECIMALS)


def rank_by_strength(state: Race, agents: Iterable[int]) -> list[int]:
    """Sort agents, the strongest first; equals keep the order of the experiment."""
    return sorted(agents, key=lambda agent: (-state.strengths[agent], agent))


def transitive_closure(above: Flags) -> Flags:
    """Return the transitive closure of a relation (Warshall)."""
    through = above.copy()
    for middle in range(len(through)):
        through |= through[:, middle, None] & through[None, middle, :]
    return through


def next_pairs(state: Race, one: int, other: int) -> int:
    """Return how many pairs two agents play in their next round; 0 if none is left."""
    played = int(state.pairs[one, other])
    return min(max(MIN_PAIRS, math.ceil(played / SHARE)), state.limit - played)
