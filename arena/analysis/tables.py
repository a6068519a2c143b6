"""Schemas and rows of the result tables."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.analysis.standings import AgentStanding, Group
from arena.analysis.summary import Summary
from arena.analysis.win_rates import WinRate
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.match_estimate import ScoreAndElo, simultaneous_score
from arena.stats.text import mirror_text

# Further digits depend on the machine and would make equal tables differ.
DECIMALS = 6
REAL = float | None
NOT_REPEATED = "no opening was played more than once"


class EloRow(NamedTuple):
    """One agent in the official order; `rank` is its place. None: the games do not determine it."""

    rank: int
    agent: str
    group: int
    elo: REAL
    elo_low: REAL
    elo_high: REAL
    interval: str
    level: float
    why: str
    games: int
    distinct_games: int
    counted_games: int
    points: float
    openings: int
    n_eff: REAL
    forfeits: int
    first_move_elo: REAL
    first_move_elo_low: REAL
    first_move_elo_high: REAL
    text: str


class WinRateRow(NamedTuple):
    """One agent against one opponent; None: the games do not determine it."""

    agent: str
    opponent: str
    games: int
    distinct_games: int
    counted_games: int
    openings: int
    largest_multiplicity: int
    n_eff: REAL
    first_wins: int
    first_draws: int
    first_losses: int
    second_wins: int
    second_draws: int
    second_losses: int
    forfeits: int
    opponent_forfeits: int
    pairs_ll: int
    pairs_ld: int
    pairs_even: int
    pairs_wd: int
    pairs_ww: int
    score: REAL
    score_low: REAL
    score_high: REAL
    simultaneous_low: REAL
    simultaneous_high: REAL
    elo: REAL
    elo_low: REAL
    elo_high: REAL
    normalized_elo: REAL
    normalized_elo_low: REAL
    normalized_elo_high: REAL
    interval: str
    level: float
    why: str
    superiority: REAL
    first_mover_score: REAL
    first_mover_score_low: REAL
    first_mover_score_high: REAL
    first_mover_margin: REAL
    identical_pairs: int
    same_player: bool
    of: str
    these_score: REAL
    these_score_low: REAL
    these_score_high: REAL
    these_elo: REAL
    these_elo_low: REAL
    these_elo_high: REAL
    these_n_eff: REAL
    these_interval: str
    these_why: str
    text: str


def row_mirror_text(row: WinRateRow) -> str:
    """Return the text of a match in which both games of every pair had the same moves, or ""."""
    return mirror_text(0 < row.games == 2 * row.identical_pairs, row.same_player)


class TournamentRow(NamedTuple):
    """The final state of one agent, agents that are still in first; None: not applicable.

    Agent `by` is above it since the end of `round`; the pairs of both are counted by the score of
    `by`.
    """

    agent: str
    state: str
    place: REAL
    round: REAL
    by: str
    pairs_ll: REAL
    pairs_ld: REAL
    pairs_even: REAL
    pairs_wd: REAL
    pairs_ww: REAL
    log_capital: REAL
    why: str


def tournament_rows(summary: Summary) -> list[TournamentRow]:
    """Return one row for each agent of a schedule in rounds."""
    found = []
    for row in () if summary.tournament is None else summary.tournament.rows:
        name, by = summary.agents[row.agent], "" if row.by is None else summary.agents[row.by]
        ll, ld, even, wd, ww = row.counts or (None,) * 5
        counts = ll, ld, even, wd, ww
        found.append(
            TournamentRow(
                name, row.state, row.place, row.round, by, *counts, row.log_capital, row.why
            )
        )
    return found


def elo_rows(summary: Summary) -> list[EloRow]:
    """Return one row for each agent."""
    rows = rating_rows(summary.ratings, summary.groups)
    return rows if _shows_strength(summary) else [row._replace(n_eff=None) for row in rows]


def rating_rows(ratings: Sequence[AgentStanding], groups: Sequence[Group]) -> list[EloRow]:
    """Return the rows of ranked agents."""
    return [
        EloRow(
            row.place,
            row.agent,
            row.group + 1,
            *_numbers(row.elo),
            str(row.elo.kind),
            row.elo.level,
            row.elo.reason,
            row.games,
            row.distinct_games,
            row.evidence_games,
            row.points,
            row.openings,
            round(row.effective_pairs, DECIMALS),
            row.forfeits,
            *_numbers(groups[row.group].first_move),
            row.text,
        )
        for row in ratings
    ]


def win_rate_rows(summary: Summary) -> Iterator[WinRateRow]:
    """Yield one row for each ordered pair of agents."""
    shows_strength, matches = _shows_strength(summary), len(summary.win_rates) // 2
    sides = iter(summary.win_rates)
    for own, other in zip(sides, sides, strict=True):
        known = simultaneous_score(own.row, matches)
        low, high = known.low, known.high
        yield _win_rate_row(own, shows_strength, (low, high))
        mirrored = None if high is None else 1.0 - high, None if low is None else 1.0 - low
        yield _win_rate_row(other, shows_strength, mirrored)


def _win_rate_row(
    rate: WinRate, shows_strength: bool, simultaneous: tuple[REAL, REAL]
) -> WinRateRow:
    row, counts = rate.row, rate.row.counts
    return WinRateRow(
        rate.agent,
        rate.opponent,
        counts.games,
        counts.distinct_games or 0,
        rate.evidence_games,
        counts.openings,
        counts.largest_multiplicity,
        round(row.answer.effective_pairs, DECIMALS) if shows_strength else None,
        *counts.first,
        *counts.second,
        rate.forfeits,
        rate.opponent_forfeits,
        *counts.pentanomial,
        *_numbers(row.score),
        _round(simultaneous[0]),
        _round(simultaneous[1]),
        *_numbers(row.elo),
        *_numbers(row.answer.normalized),
        str(row.score.kind),
        row.score.level,
        row.score.reason,
        _round(row.superiority),
        *_numbers(row.first_mover),
        _round(counts.first_mover_margin),
        counts.identical_pairs,
        counts.same_player,
        str(row.answer.scope),
        *_these_numbers(row.these),
        str(row.these.score.kind if row.these else EstimateKind.NONE),
        row.these.score.reason if row.these else NOT_REPEATED,
        rate.text,
    )


def _these_numbers(
    answer: ScoreAndElo | None,
) -> tuple[REAL, REAL, REAL, REAL, REAL, REAL, REAL]:
    if answer is None:
        return None, None, None, None, None, None, None
    n_eff = round(answer.effective_pairs, DECIMALS)
    return (*_numbers(answer.score), *_numbers(answer.elo), n_eff)


def _numbers(estimate: Estimate) -> tuple[REAL, REAL, REAL]:
    return _round(estimate.value), _round(estimate.low), _round(estimate.high)


def _round(number: float | None) -> float | None:
    # 0 + x, so that nothing prints as -0.
    return None if number is None else 0.0 + round(number, DECIMALS)


def _shows_strength(summary: Summary) -> bool:
    """Return whether the games show strength, which formats for fun do not."""
    return summary.tournament is None or summary.tournament.is_proof


def tournament_json(summary: Summary) -> dict[str, object] | None:
    """Return the tournament as JSON stores it; None if there was none."""
    standing = summary.tournament
    if standing is None:
        return None
    return {
        "schedule": standing.schedule,
        "rounds": standing.rounds,
        "over": standing.is_over,
        "answer": standing.answer,
        "notes": list(standing.notes),
        "agents": [row._asdict() for row in tournament_rows(summary)],
    }
