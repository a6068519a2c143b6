"""Everything that is said about one pair of agents, from its pairings."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from arena.stats.clusters import Spread, kish_size, spread
from arena.stats.counts import (
    PairCounts,
    first_mover_scores,
    mirrored,
    pair_counts,
    pair_scores,
)
from arena.stats.elo import elo_estimate, likelihood_of_superiority, normalized_elo_estimate
from arena.stats.estimate import Estimate, negated, transformed
from arena.stats.intervals import estimate_from_spread, score_estimate


@dataclass(frozen=True, slots=True)
class Matchup:
    """One row of a win-rate table, seen by one agent.

    `effective_pairings` is the number of independent pairings with the same error, `kish` the
    equally weighted openings; `superiority` is None where it rests on too little.
    """

    counts: PairCounts
    spread: Spread
    score: Estimate
    elo: Estimate
    normalized: Estimate
    first_mover: Estimate
    superiority: float | None
    effective_pairings: float
    kish: float


def matchup(
    openings: npt.ArrayLike,
    as_first: npt.ArrayLike,
    as_second: npt.ArrayLike,
    *,
    games: tuple[Sequence[object], Sequence[object]] | None = None,
    level: float = 0.95,
    census: bool = False,
) -> Matchup:
    """Sum up pairings given by opening and one agent's score (0, 1/2, 1) in each seat.

    Leave out replays of a deterministic pair first: they are no evidence. `games` names the
    game of each pairing in which the agent moved first, then the other one.
    """
    found = spread(openings, pair_scores(as_first, as_second))
    score = estimate_from_spread(found, level, census)
    first_mover = score_estimate(openings, first_mover_scores(as_first, as_second), level, census)
    return Matchup(
        counts=pair_counts(openings, as_first, as_second, games),
        spread=found,
        score=score,
        elo=elo_estimate(score),
        normalized=normalized_elo_estimate(score, found.variance),
        first_mover=first_mover,
        superiority=None if census else likelihood_of_superiority(found),
        effective_pairings=found.effective_pairings,
        kish=kish_size(openings),
    )


def from_other_side(row: Matchup) -> Matchup:
    """The same pairings seen by the opponent."""
    found = row.spread
    score = negated(row.score)
    return Matchup(
        counts=mirrored(row.counts),
        spread=found._replace(mean=1.0 - found.mean if found.pairings else 0.0),
        score=transformed(score, lambda s: 1.0 + s),
        elo=negated(row.elo),
        normalized=negated(row.normalized),
        first_mover=row.first_mover,
        superiority=None if row.superiority is None else 1.0 - row.superiority,
        effective_pairings=row.effective_pairings,
        kish=row.kish,
    )
