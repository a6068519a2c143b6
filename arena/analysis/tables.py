"""Schemas and rows of the result tables."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.analysis.standings import AgentStanding, Group
from arena.analysis.summary import Summary
from arena.analysis.win_rates import WinRate
from arena.planning.rounds import StandingRow
from arena.stats.match_estimate import ScoreAndElo, no_estimate_for_these
from arena.stats.text import mirror_text

# Further digits are rounding errors of the machine and would make equal tables differ.
DECIMALS = 6
REAL = float | None
NOT_THESE = no_estimate_for_these("no opening was played more than once")


class EloRow(NamedTuple):
    """One agent in the official order; `rank` is its place. `None` where the games cannot say."""

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
    """One agent against one opponent; `None` where the games cannot say."""

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


def mirror_of(row: WinRateRow) -> str:
    """What a match shows in which both games of every pair had the same moves, or ""."""
    return mirror_text(_identical(row), row.same_player)


def _identical(row: WinRateRow) -> bool:
    return 0 < row.games == 2 * row.identical_pairs


class TournamentRow(NamedTuple):
    """One agent where the rounds ended, those still in first; `None` where it does not apply.

    `by` is above it since the end of `round`; the pairings of both are those by the score of `by`.
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
    """One row for each agent of a schedule that goes by rounds."""
    rows = () if summary.tournament is None else summary.tournament.rows
    return [_tournament_row(row, summary.agents) for row in rows]


def _tournament_row(row: StandingRow, names: Sequence[str]) -> TournamentRow:
    ll, ld, even, wd, ww = row.counts or (None,) * 5
    return TournamentRow(
        agent=names[row.agent],
        state=row.state,
        place=row.place,
        round=row.round,
        by="" if row.by is None else names[row.by],
        pairs_ll=ll,
        pairs_ld=ld,
        pairs_even=even,
        pairs_wd=wd,
        pairs_ww=ww,
        log_capital=row.log_capital,
        why=row.why,
    )


def elo_rows(summary: Summary) -> list[EloRow]:
    """One row for each agent."""
    rows = rating_rows(summary.ratings, summary.groups)
    return rows if _shows(summary) else [row._replace(n_eff=None) for row in rows]


def rating_rows(ratings: Sequence[AgentStanding], groups: Sequence[Group]) -> list[EloRow]:
    """The rows of ranked agents."""
    return [_elo_row(row, groups[row.group]) for row in ratings]


def win_rate_rows(summary: Summary) -> Iterator[WinRateRow]:
    """One row for each ordered pair of agents, made as it is asked for."""
    return (_win_rate_row(row, summary) for row in summary.win_rates)


def _elo_row(row: AgentStanding, group: Group) -> EloRow:
    first_move = group.first_move
    return EloRow(
        rank=row.place,
        agent=row.agent,
        group=row.group + 1,
        elo=_rounded(row.elo.value),
        elo_low=_rounded(row.elo.low),
        elo_high=_rounded(row.elo.high),
        interval=str(row.elo.kind),
        level=row.elo.level,
        why=row.elo.reason,
        games=row.games,
        distinct_games=row.distinct,
        counted_games=row.counted,
        points=row.points,
        openings=row.openings,
        n_eff=round(row.effective_pairings, DECIMALS),
        forfeits=row.forfeits,
        first_move_elo=_rounded(first_move.value),
        first_move_elo_low=_rounded(first_move.low),
        first_move_elo_high=_rounded(first_move.high),
        text=row.text,
    )


def _win_rate_row(rate: WinRate, summary: Summary) -> WinRateRow:
    row, counts = rate.row, rate.row.counts
    return WinRateRow(
        rate.agent,
        rate.opponent,
        counts.games,
        counts.distinct_games or 0,
        rate.counted,
        counts.openings,
        counts.largest_multiplicity,
        _n_eff(row.effective_pairings, summary),
        *counts.first,
        *counts.second,
        rate.forfeits,
        rate.opponent_forfeits,
        *counts.pentanomial,
        score=_rounded(row.score.value),
        score_low=_rounded(row.score.low),
        score_high=_rounded(row.score.high),
        elo=_rounded(row.elo.value),
        elo_low=_rounded(row.elo.low),
        elo_high=_rounded(row.elo.high),
        normalized_elo=_rounded(row.normalized.value),
        normalized_elo_low=_rounded(row.normalized.low),
        normalized_elo_high=_rounded(row.normalized.high),
        interval=str(row.score.kind),
        level=row.score.level,
        why=row.score.reason,
        superiority=_rounded(row.superiority),
        first_mover_score=_rounded(row.first_mover.value),
        first_mover_score_low=_rounded(row.first_mover.low),
        first_mover_score_high=_rounded(row.first_mover.high),
        first_mover_margin=_rounded(counts.first_mover_margin),
        identical_pairs=counts.identical_pairs,
        same_player=counts.same_player,
        of=str(row.answer.scope),
        **_these(row.these),
        text=rate.text,
    )


def _these(answer: ScoreAndElo | None) -> dict[str, Any]:
    """The columns of the answer for exactly these openings."""
    these = answer or NOT_THESE
    return {
        "these_score": _rounded(these.score.value),
        "these_score_low": _rounded(these.score.low),
        "these_score_high": _rounded(these.score.high),
        "these_elo": _rounded(these.elo.value),
        "these_elo_low": _rounded(these.elo.low),
        "these_elo_high": _rounded(these.elo.high),
        "these_n_eff": None if answer is None else round(answer.effective_pairings, DECIMALS),
        "these_interval": str(these.score.kind),
        "these_why": these.score.reason,
    }


def _rounded(number: float | None) -> float | None:
    # 0 + x, so that nothing prints as -0.
    return None if number is None else 0.0 + round(number, DECIMALS)


def _shows(summary: Summary) -> bool:
    """Whether the games show who is stronger: formats for fun do not."""
    return summary.tournament is None or summary.tournament.proves


def _n_eff(pairings: float, summary: Summary) -> float | None:
    """Pairings that would be as sure; None after a format that shows nothing."""
    return round(pairings, DECIMALS) if _shows(summary) else None


def tournament_json(summary: Summary) -> dict[str, object] | None:
    """The tournament as JSON holds it; None if there was none."""
    standing = summary.tournament
    if standing is None:
        return None
    return {
        "schedule": standing.schedule,
        "rounds": standing.rounds,
        "over": standing.over,
        "answer": standing.answer,
        "notes": list(standing.notes),
        "agents": [row._asdict() for row in tournament_rows(summary)],
    }
