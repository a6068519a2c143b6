"""All results of a run in one value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.analysis.evidence import Evidence, Exclusion
from arena.analysis.match_counts import Match
from arena.analysis.standings import (
    AgentStanding,
    Group,
    PointsRow,
    Standings,
    official_places,
    points_standings,
    sort_by_place,
    standings,
    tallies,
)
from arena.analysis.win_rates import (
    ONLY_FORFEITS,
    WinRates,
    determinism_violations,
    is_census,
    win_rates,
)
from arena.planning.plan import Plan
from arena.planning.rounds import TournamentStanding
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.intervals import NO_GAMES
from arena.stats.match_estimate import MatchEstimate, first_mover_estimate
from arena.stats.ratings import RatingPlan
from arena.stats.sprt import Decision, SprtPlan, SprtState
from arena.stats.sprt_estimates import as_raw, median_unbiased_estimate
from arena.stats.stopping import StopPlan, StopState
from arena.stats.text import elo_text, match_estimate_text, rating_text, stop_text

DRAWS = 200
# Intervals by openings assume that the schedule was fixed in advance.
ADAPTED = "fixed-n, schedule adapted: results decided who met"
FORMAT = "a format for fun: no interval"


@dataclass(frozen=True, slots=True)
class StopResult:
    """How a stop rule ended the match of `agent` against `opponent`.

    After a sequential test `raw`, which ignores the stopping, is biased away from 0; `corrected` is
    not. After other rules both are the same.
    """

    agent: str
    opponent: str
    decision: str
    raw: Estimate
    corrected: Estimate
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """All conclusions from the games of a run, without times or machines.

    `first_mover` is the score of the first movers, the agents to move after the opening.
    `ratings` are in the official order. `opening_plies` are the fewest and the most. `duplicates`
    counts the fair games equal to an earlier one of their match.
    """

    experiment: str
    game: str
    agents: tuple[str, ...]
    games: int
    distinct_games: int
    openings: int
    forfeits: int
    first_mover: Estimate
    ratings: tuple[AgentStanding, ...]
    groups: tuple[Group, ...]
    win_rates: WinRates
    stop: StopResult | None
    tournament: TournamentStanding | None = None
    points: tuple[PointsRow, ...] = ()
    notes: tuple[str, ...] = ()
    identical_agents: tuple[str, ...] = ()  # a line for each group of them
    identical_groups: tuple[tuple[str, ...], ...] = ()  # their names
    opening_plies: tuple[int, int] | None = None
    duplicates: int = 0
    excluded: tuple[Exclusion, ...] = ()

    @property
    def unplayed_games(self) -> int:
        """Return the number of games that were forfeited unplayed."""
        return sum(each.unplayed for each in self.excluded)


def summarise(
    evidence: Evidence,
    *,
    name: str = "",
    stop: StopPlan | None = None,
    stop_state: StopState | None = None,
    tournament: TournamentStanding | None = None,
    by_points: bool = False,
    draws: int = DRAWS,
) -> Summary:
    """Summarise the games of the experiment called `name`.

    The rule `stop` ended the run; its state may be unknown. `by_points` ranks the agents by points.
    With 0 `draws`, ratings have no errors.
    """
    plan, tested = evidence.plan, isinstance(stop, SprtPlan)
    names, met = plan.names, evidence.matches
    rates = win_rates(evidence, stop)
    whole = bool(met) and all(is_census(match, evidence) for match in met)
    rating = make_rating_plan(plan, draws, whole)
    rated = standings(met, names, rates, rating, tested, evidence.faulty)
    rated, points = _rank(evidence, rated, by_points, tournament)
    return Summary(
        experiment=name,
        game=plan.game_name,
        agents=names,
        games=evidence.games,
        distinct_games=evidence.games - evidence.duplicates,
        openings=evidence.openings,
        forfeits=sum(sum(match.forfeits) for match in met),
        first_mover=_first_mover_score(met, whole, tested),
        ratings=rated.agents,
        groups=rated.groups,
        win_rates=rates,
        stop=_stop_result(plan, rates, stop, stop_state) if stop and stop_state else None,
        tournament=tournament,
        points=points if by_points else (),
        notes=tuple(determinism_violations(evidence)),
        identical_agents=tuple(each.text(names) for each in evidence.identical_agents),
        identical_groups=tuple(
            tuple(names[agent] for agent in each.agents) for each in evidence.identical_agents
        ),
        opening_plies=evidence.opening_plies,
        duplicates=evidence.duplicates,
        excluded=evidence.excluded,
    )


def _rank(
    evidence: Evidence, rated: Standings, by_points: bool, tournament: TournamentStanding | None
) -> tuple[Standings, tuple[PointsRow, ...]]:
    names = evidence.plan.names
    if tournament is not None:
        rated = _rated_by_schedule(rated, tournament, names)
    own = dict(zip(names, tallies(evidence.matches, len(names)), strict=True))
    places = official_places(
        own, rated.agents, openings=evidence.openings, by_points=by_points, standing=tournament,
        excluded={each.agent for each in evidence.excluded},
    )  # fmt: skip
    return sort_by_place(rated, places), tuple(points_standings(own, places))


def _rated_by_schedule(
    rated: Standings, standing: TournamentStanding, names: Sequence[str]
) -> Standings:
    """Replace the ratings by those of a schedule that rates the agents itself, if it does."""
    own = {names[row.agent]: row.elo for row in standing.rows if row.elo is not None}
    if not own:
        return rated
    agents = [
        replace(row, group=0, elo=own[row.agent], text=rating_text(own[row.agent]))
        for row in rated.agents
    ]
    group = replace(rated.groups[0], agents=tuple(own), text="", cycle="")
    return Standings(tuple(agents), (group,))


def make_rating_plan(plan: Plan, draws: int, census: bool) -> RatingPlan:
    """Return how to rate the agents of a plan."""
    name, elo = plan.anchor or (None, 0.0)
    anchor = None if name is None else plan.names.index(name)
    return RatingPlan(draws=draws, census=census, anchor=anchor, anchor_elo=elo)


def _first_mover_score(matches: Sequence[Match], census: bool, tested: bool) -> Estimate:
    """Return the first movers' score over all matches, which share their openings."""
    fresh = [match.evidence() for match in matches]
    if not fresh:
        return no_estimate(NO_GAMES)
    score = first_mover_estimate(
        np.concatenate([match.openings for match in fresh]),
        np.concatenate([match.as_first for match in fresh]),
        np.concatenate([match.as_second for match in fresh]),
        np.concatenate([match.times for match in fresh]),
        np.concatenate([match.fair for match in fresh]),
        census=census,
    )
    return as_raw(score) if tested else score


def _stop_result(plan: Plan, rates: WinRates, rule: StopPlan, state: StopState) -> StopResult:
    """Return how the rule ended the only match, from the side of its first agent.

    The raw estimate is that of the match's row, so that the run has one interval.
    """
    ((a, b),), names = plan.matches, plan.names
    raw = next(rate.row.elo for rate in rates if rate.agent == names[a])
    if raw.reason == ONLY_FORFEITS:
        text = f"{names[a]} against {names[b]}: {ONLY_FORFEITS}, which show no strength"
        return StopResult(names[a], names[b], str(Decision.UNDECIDED), raw, raw, raw.reason, text)
    why = stop_text(rule, state, plan.pairs)
    text = f"{names[a]} against {names[b]}: {why}"
    corrected = raw
    if isinstance(rule, SprtPlan):
        assert isinstance(state, SprtState)
        corrected = median_unbiased_estimate(rule, state)
        text += f"; raw {elo_text(raw)}, corrected {elo_text(corrected)}"
    return StopResult(names[a], names[b], str(state.decision), raw, corrected, why, text)


def relabel_intervals(summary: Summary) -> Summary:
    """Label the intervals of a race as adapted; remove those of a format that proves nothing."""
    if summary.tournament is None:
        return summary
    proves = summary.tournament.is_proof

    def relabel(estimate: Estimate) -> Estimate:
        if not proves:
            return no_estimate(FORMAT, estimate.value, estimate.level, estimate.scope)
        if estimate.kind is not EstimateKind.FIXED:
            return estimate
        return replace(estimate, kind=EstimateKind.ADAPTED, reason=ADAPTED)

    def relabel_match(row: MatchEstimate) -> MatchEstimate:
        return replace(
            row.map_answers(lambda answer: answer.map_estimates(relabel)),
            first_mover=relabel(row.first_mover),
            superiority=row.superiority if proves else None,
        )

    own = {summary.agents[row.agent] for row in summary.tournament.rows if row.elo is not None}

    def relabel_rating(row: AgentStanding) -> AgentStanding:
        elo = row.elo if row.agent in own else relabel(row.elo)
        return replace(row, elo=elo, text=rating_text(elo))

    groups = (
        replace(group, first_move=relabel(group.first_move), text=group.text if proves else "")
        for group in summary.groups
    )
    return replace(
        summary,
        first_mover=relabel(summary.first_mover),
        ratings=tuple(map(relabel_rating, summary.ratings)),
        groups=tuple(groups),
        win_rates=summary.win_rates.with_rows(
            relabel_match, match_estimate_text if proves else _results_text
        ),
    )


def _results_text(row: MatchEstimate) -> str:
    points = row.counts.total
    return f"{points.wins} won, {points.draws} drawn, {points.losses} lost"
