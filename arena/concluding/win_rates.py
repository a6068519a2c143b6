"""One agent against another: all games counted, scores estimated from the evidence."""

from dataclasses import dataclass, replace

import numpy as np

from arena.concluding.evidence import Evidence, Flags, Match, forfeited_rows
from arena.stats.counts import PairCounts, pair_counts
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.matchup import Matchup, from_other_side, matchup
from arena.stats.stopped import RAW
from arena.stats.words import matchup_text


@dataclass(frozen=True, slots=True)
class WinRate:
    """One agent against one opponent.

    `row.counts` has all games; the estimates of `row` rest on the `counted` ones, without
    replays. Forfeits are losses there.
    """

    agent: str
    opponent: str
    counted: int
    forfeits: int
    opponent_forfeits: int
    row: Matchup
    text: str


def is_census(match: Match, evidence: Evidence) -> bool:
    """Whether a match covers every opening of a finite set; never if there is one, or it varied."""
    a, b = evidence.plan.names[match.a], evidence.plan.names[match.b]
    if (a, b) not in evidence.census and (b, a) not in evidence.census:
        return False
    openings = len(np.unique(match.openings))
    return openings > 1 and int(match.fresh.sum()) == openings


def win_rates(evidence: Evidence, match: Match, stopped: bool) -> tuple[WinRate, WinRate]:
    """A match seen from both sides; `stopped` says that a sequential test ended it."""
    fresh = match.evidence()
    covered = is_census(match, evidence)
    row = matchup(fresh.openings, fresh.as_first, fresh.as_second, census=covered)
    row = replace(row, counts=_counts(match, evidence.repeat))
    if stopped:
        row = replace(row, score=raw(row.score), elo=raw(row.elo), normalized=raw(row.normalized))
    own, others = (
        len(forfeited_rows(evidence.games, match, agent)) for agent in (match.a, match.b)
    )
    names = evidence.plan.names
    a, b, counted = names[match.a], names[match.b], 2 * len(fresh.openings)
    other = from_other_side(row)
    return (
        WinRate(a, b, counted, own, others, row, _text(row)),
        WinRate(b, a, counted, others, own, other, _text(other)),
    )


def raw(estimate: Estimate) -> Estimate:
    """The estimate labelled as one that ignores the rule by which games were stopped."""
    if estimate.kind is not EstimateKind.FIXED:
        return estimate
    return replace(estimate, kind=EstimateKind.SPRT, reason=RAW)


def _counts(match: Match, repeat: Flags) -> PairCounts:
    """Counts of all games of a match, replays included."""
    counts = pair_counts(match.openings, match.as_first, match.as_second)
    return replace(counts, distinct_games=int(np.count_nonzero(~repeat[match.rows])))


def _text(row: Matchup) -> str:
    return matchup_text(row) + (", raw" if row.score.kind is EstimateKind.SPRT else "")
