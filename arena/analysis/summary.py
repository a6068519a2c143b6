"""All results of a run in one value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.analysis.duplicates import identical_play
from arena.analysis.evidence import Evidence
from arena.analysis.exclusions import Exclusion
from arena.analysis.match_counts import Match
from arena.analysis.standings import (
    AgentStanding,
    Group,
    PointsRow,
    Standings,
    in_official_order,
    official_places,
    points_standings,
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
from arena.stats.estimate import Estimate, no_estimate
from arena.stats.intervals import NO_GAMES
from arena.stats.match_estimate import first_mover_estimate
from arena.stats.ratings import RatingPlan
from arena.stats.sprt import Decision, SprtPlan, SprtState
from arena.stats.sprt_estimates import as_raw, corrected_estimate
from arena.stats.text import elo_text, sprt_text

DRAWS = 200


@dataclass(frozen=True, slots=True)
class SprtResult:
    """Where a sequential test of `agent` against `opponent` ended, and what it says of both.

    `raw` ignores the stopping rule and is too far from 0; `corrected` does not.
    """

    agent: str
    opponent: str
    decision: str
    raw: Estimate
    corrected: Estimate
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """All that is concluded from the games of a run, without clocks or machines.

    `first_mover` is the score of the first movers, the agents to move after the opening.
    `win_rates` has both sides of every pair that met; `ratings` are in the official order.
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
    stopped: SprtResult | None
    tournament: TournamentStanding | None = None
    points: tuple[PointsRow, ...] = ()
    notes: tuple[str, ...] = ()
    same: tuple[str, ...] = ()  # a line for each group of agents that play identically
    opening_plies: tuple[int, int] | None = None  # the fewest and the most
    duplicates: int = 0  # fair games equal to an earlier one of their match
    excluded: tuple[Exclusion, ...] = ()

    @property
    def unplayed(self) -> int:
        """How many of the forfeited games were not played."""
        return sum(each.unplayed for each in self.excluded)


def summarise(
    evidence: Evidence,
    *,
    name: str = "",
    sprt: tuple[SprtPlan, SprtState] | None = None,
    tournament: TournamentStanding | None = None,
    by_points: bool = False,
    by_test: bool = False,
    draws: int = DRAWS,
) -> Summary:
    """Sum up the games of the experiment called `name`.

    `sprt` is the test that stopped the run, `tournament` where its rounds ended; `by_points`
    ranks the agents by points; `by_test` says that such a test ended the run where its state is
    not given; 0 `draws`: ratings without errors.
    """
    plan, tested = evidence.plan, by_test or sprt is not None
    names, met = plan.names, evidence.matches
    rates = win_rates(evidence, tested)
    whole = bool(met) and all(is_census(match, evidence) for match in met)
    rating = make_rating_plan(plan, draws, whole)
    rated = standings(met, names, rates, rating, tested, evidence.faulty)
    rated, points = _ranked(evidence, rated, by_points, tournament)
    return Summary(
        experiment=name,
        game=plan.game,
        agents=names,
        games=evidence.games,
        distinct_games=evidence.games - evidence.duplicates,
        openings=evidence.openings,
        forfeits=sum(rate.forfeits + rate.opponent_forfeits for rate in rates.own),
        first_mover=_first_mover(met, whole, tested),
        ratings=rated.agents,
        groups=rated.groups,
        win_rates=rates,
        stopped=None if sprt is None else _stopped(plan, rates, *sprt),
        tournament=tournament,
        points=points if by_points else (),
        notes=tuple(determinism_violations(evidence)),
        same=identical_play(evidence.same, names),
        opening_plies=evidence.opening_plies,
        duplicates=evidence.duplicates,
        excluded=evidence.excluded,
    )


def _ranked(
    evidence: Evidence, rated: Standings, by_points: bool, tournament: TournamentStanding | None
) -> tuple[Standings, tuple[PointsRow, ...]]:
    """The agents in the official order, and their points."""
    names = evidence.plan.names
    own = dict(zip(names, tallies(evidence.matches, len(names)), strict=True))
    places = official_places(
        own, rated.agents, openings=evidence.openings, by_points=by_points, standing=tournament,
        excluded={each.agent for each in evidence.excluded},
    )  # fmt: skip
    return in_official_order(rated, places), tuple(points_standings(own, places))


def make_rating_plan(plan: Plan, draws: int, census: bool) -> RatingPlan:
    """How the agents of a plan are rated."""
    name, elo = plan.anchor or (None, 0.0)
    anchor = None if name is None else plan.names.index(name)
    return RatingPlan(draws=draws, census=census, anchor=anchor, anchor_elo=elo)


def _first_mover(found: Sequence[Match], census: bool, tested: bool) -> Estimate:
    """Return the first movers' score over all matches; openings are shared between them.

    In `tested` runs a sequential test ended the games, which the interval ignores.
    """
    fresh = [match.evidence() for match in found]
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


def _stopped(plan: Plan, rates: WinRates, test: SprtPlan, state: SprtState) -> SprtResult:
    """A test of the only match there is, from the side of its first agent.

    The raw estimate is that of the match's row, so that the run has one interval.
    """
    ((a, b),), names = plan.matches, plan.names
    raw = next(rate.row.elo for rate in rates if rate.agent == names[a])
    if raw.reason == ONLY_FORFEITS:
        text = f"{names[a]} against {names[b]}: {ONLY_FORFEITS}, which show no strength"
        return SprtResult(names[a], names[b], str(Decision.UNDECIDED), raw, raw, text)
    corrected = corrected_estimate(test, state)
    text = (
        f"{names[a]} against {names[b]}: {sprt_text(test, state)}; "
        f"raw {elo_text(raw)}, corrected {elo_text(corrected)}"
    )
    return SprtResult(names[a], names[b], str(state.decision), raw, corrected, text)
