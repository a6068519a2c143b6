"""The state of a race: who is said to be above whom, after complete rounds of pairings.

A race asks few questions often, so every answer is the anytime capital of `capital`, and the share
of wrong answers in all is the share in one divided by their number (a union). The strengths only
choose who meets next: no answer rests on them.
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
FEWEST, SHARE = 4, 8  # a pair plays so many pairings in a round, later this share of those it has
STEPS, STEP_SIZE = 4, 0.7  # of the strengths in each round
# Sums of the same numbers in another order differ beyond these; orders must not.
DECIMALS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """What is known after `rounds` complete rounds.

    `counts[i, j]` are the pairings of i and j by the score of i: 0, 1/4, 1/2, 3/4, 1. `above[i, j]`
    says that i was ever shown to be above j, `alike[i, j]` that both are shown to be within
    `indifference` Elo; each is wrong with probability exp(-level) at most.
    """

    level: float
    indifference: float
    limit: int  # pairings that two agents play at most
    rounds: int
    counts: Ints
    strengths: Floats
    above: Flags
    alike: Flags

    @property
    def agents(self) -> int:
        """How many take part."""
        return len(self.strengths)

    @property
    def played(self) -> Ints:
        """Pairings of each two agents."""
        return np.asarray(self.counts.sum(axis=-1))

    @property
    def earned(self) -> Floats:
        """Logarithm of the capital that says that i is above j."""
        return log_betting_capital(self.counts, 0.5)


def race(agents: int, level: float, limit: int, indifference: float = 0.0) -> Race:
    """A race before its first round."""
    none = np.zeros((agents, agents), np.bool_)
    counts = np.zeros((agents, agents, len(PAIR_SCORES)), np.int64)
    return Race(level, indifference, limit, 0, counts, np.zeros(agents), none, none)


def after_round(state: Race, results: Iterable[tuple[int, int, npt.ArrayLike]]) -> Race:
    """The race after a round: two agents, and the counts of the first one's pair scores, each."""
    counts, above, alike = state.counts.copy(), state.above.copy(), state.alike.copy()
    for one, other, seen in results:
        five = np.asarray(seen, np.int64)
        counts[one, other] += five
        counts[other, one] += five[::-1]
    # Nothing is said anew of those that did not meet.
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
    """Penalised strengths after Bradley and Terry: some steps on from those of the last round."""
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


def by_strength(state: Race, agents: Iterable[int]) -> list[int]:
    """Some agents, the strongest first; of equals the one that stands first in the file."""
    return sorted(agents, key=lambda agent: (-state.strengths[agent], agent))


def transitive_closure(above: Flags) -> Flags:
    """Who is above whom if above those above somebody is above him too (Warshall)."""
    through = above.copy()
    for middle in range(len(through)):
        through |= through[:, middle, None] & through[None, middle, :]
    return through


def next_pairings(state: Race, one: int, other: int) -> int:
    """How many pairings two agents play in a round in which they meet; 0 if all are used up."""
    played = int(state.played[one, other])
    return min(max(FEWEST, math.ceil(played / SHARE)), state.limit - played)
