"""What may be said of ratings where results decided who met whom next."""

from dataclasses import replace

from arena.analysis.standings import AgentStanding, Group
from arena.analysis.summary import Summary
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.match_estimate import MatchEstimate, ScoreAndElo
from arena.stats.text import match_estimate_text, rating_text

# An interval by openings takes it that the schedule was fixed beforehand.
ADAPTED = "fixed-n, schedule adapted: results decided who met"
FORMAT = "a format for fun: no interval"


def interval_kind(summary: Summary) -> Summary:
    """The summary as it may be said: intervals marked after a race, none after a mere format."""
    if summary.tournament is None:
        return summary
    proves = summary.tournament.proves
    return replace(
        summary,
        first_mover=_changed(summary.first_mover, proves),
        ratings=tuple(_rated(row, proves) for row in summary.ratings),
        groups=tuple(_group(group, proves) for group in summary.groups),
        win_rates=summary.win_rates.changed(
            lambda row: _matchup(row, proves), match_estimate_text if proves else _results
        ),
    )


def _changed(estimate: Estimate, proves: bool) -> Estimate:
    if not proves:
        return no_estimate(FORMAT, estimate.value, estimate.level, estimate.scope)
    if estimate.kind is not EstimateKind.FIXED:
        return estimate
    return replace(estimate, kind=EstimateKind.ADAPTED, reason=ADAPTED)


def _rated(row: AgentStanding, proves: bool) -> AgentStanding:
    elo = _changed(row.elo, proves)
    return replace(row, elo=elo, text=rating_text(elo))


def _group(group: Group, proves: bool) -> Group:
    first_move = _changed(group.first_move, proves)
    return replace(group, first_move=first_move, text=group.text if proves else "")


def _matchup(row: MatchEstimate, proves: bool) -> MatchEstimate:
    return replace(
        row,
        like=_answer(row.like, proves),
        these=None if row.these is None else _answer(row.these, proves),
        first_mover=_changed(row.first_mover, proves),
        superiority=row.superiority if proves else None,
    )


def _results(row: MatchEstimate) -> str:
    """What was played, where it proves nothing."""
    points = row.counts.total
    return f"{points.wins} won, {points.draws} drawn, {points.losses} lost"


def _answer(answer: ScoreAndElo, proves: bool) -> ScoreAndElo:
    return replace(
        answer,
        score=_changed(answer.score, proves),
        elo=_changed(answer.elo, proves),
        normalized=_changed(answer.normalized, proves),
    )
