"""The ratings of a run, group by group, from the games that are evidence."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.concluding.intransitivity import (
    WithoutRating,
    misfit_of,
    misfit_text,
    standings_without_ratings,
)
from arena.concluding.match_sums import Match
from arena.concluding.points_table import tallies
from arena.concluding.win_rates import WinRate, raw
from arena.stats.bradley_terry import EXACT
from arena.stats.clusters import spread
from arena.stats.estimate import Estimate, EstimateKind, nothing, transformed
from arena.stats.misfit import Misfit
from arena.stats.pool_gaps import bridges
from arena.stats.rating_words import bridge_text, first_move_text, rating_text
from arena.stats.ratings import Pool, RatingPlan, Ratings, rate
from arena.stats.results import Results

# More openings are drawn in blocks: these are as independent, and the draws stay small.
BLOCKS = 20_000
DRAWN = 0.5
ONLY_FORFEITS = "only forfeits"
USUAL = "bradley_terry"  # the method of runs
FARTHEST = 1e9  # Elo


@dataclass(frozen=True, slots=True)
class Rated:
    """One agent's rating and place; agents of different groups cannot be compared.

    `points` are those of all its `games`, the rating rests on the `counted` ones;
    `effective_pairings` are the independent ones that would be as sure: pairings on one opening
    are not independent, also against different opponents.
    """

    agent: str
    group: int
    elo: Estimate
    games: int
    distinct: int
    counted: int
    points: float
    openings: int
    effective_pairings: float
    forfeits: int
    text: str
    standing: WithoutRating
    place: int = 0  # in the official order


@dataclass(frozen=True, slots=True)
class Group:
    """Agents whose ratings can be compared, and what the first move is worth among them.

    `misfit` tests whether one number an agent describes their results; `misfit_text` says it
    where they do not.
    """

    agents: tuple[str, ...]
    first_move: Estimate
    text: str
    misfit: Misfit | None = None
    misfit_text: str = ""


@dataclass(frozen=True, slots=True)
class Standings:
    """Agents ordered by group, then by strength; `bridges` say how far groups are apart."""

    agents: tuple[Rated, ...]
    groups: tuple[Group, ...]
    bridges: tuple[str, ...]


class RatingBasis(NamedTuple):
    """What one agent's rating rests on; `effective` are independent pairings as sure."""

    games: int
    points: float
    distinct: int
    openings: int
    effective: float
    forfeits: int


def standings(
    found: Sequence[Match],
    names: Sequence[str],
    rates: Sequence[WinRate],
    plan: RatingPlan,
    stopped: bool,
    faulty: Collection[str] = (),
) -> Standings:
    """Rate the agents of all matches; `rates` are the same matches from both sides.

    `stopped` says that a sequential test ended them. All games of `faulty` agents ended by
    somebody's fault: they say nothing of their strength.
    """
    results = results_of(found, len(names), BLOCKS)
    played = _played(found, names, rates)
    ranked = ranked_agents(results, names, rates, played, plan, faulty=faulty)
    if stopped:
        rows = tuple(replace(row, elo=raw(row.elo)) for row in ranked.agents)
        ranked = replace(ranked, agents=rows)
    if len(ranked.groups) > 1:  # bounds between groups need the openings one by one
        whole = results_of(found, len(names))
        rated = rate(whole, replace(plan, draws=0))
        ranked = replace(ranked, bridges=_bridges(rated, whole, names))
    return ranked


def ranked_agents(
    results: Results,
    names: Sequence[str],
    rates: Sequence[WinRate],
    played: Sequence[RatingBasis],
    plan: RatingPlan,
    *,
    faulty: Collection[str] = (),
    method: str = USUAL,
) -> Standings:
    """Agents rated by a method and ranked; `played` says what each rating rests on."""
    rated, standing = rate(results, plan, method), standings_without_ratings(names, rates)
    rows = [
        _rated(rated, place, name, played[place], standing[name])
        for place, name in enumerate(names)
    ]
    if method == USUAL:
        only = _only_rates(rates)
        rows = [_of_pair(row, only, plan, names) for row in rows]
    rows = [_only_forfeits(row) if row.agent in faulty else row for row in rows]
    ordered = enumerate(sorted(rows, key=_place), 1)
    return Standings(
        agents=tuple(replace(row, place=place) for place, row in ordered),
        groups=tuple(_group(pool, rated, names, results, standing) for pool in rated.pools),
        bridges=_bridges(rated, results, names),
    )


def in_official_order(found: Standings, places: Mapping[str, int]) -> Standings:
    """The same agents with their places, in the order of these."""
    rows = {row.agent: row for row in found.agents}
    ordered = tuple(replace(rows[name], place=place) for name, place in places.items())
    return replace(found, agents=ordered)


def _place(row: Rated) -> tuple[bool, int, float]:
    """Ranked agents first, by group, then by strength; equal ones in the experiment's order."""
    elo = row.elo.value
    if elo is None:  # a bound alone: above or below all that is known
        elo = FARTHEST if row.elo.low is not None else -FARTHEST
    # Further digits are rounding errors of the machine.
    return row.elo.reason == ONLY_FORFEITS, row.group, 0.0 - round(elo, 6)


def _only_forfeits(row: Rated) -> Rated:
    elo = nothing(ONLY_FORFEITS, level=row.elo.level)
    return replace(row, elo=elo, text=ONLY_FORFEITS)


def _only_rates(rates: Iterable[WinRate]) -> Mapping[str, WinRate | None]:
    """The one match of every agent that met somebody; None where it met several."""
    only: dict[str, WinRate | None] = {}
    for each in rates:
        only[each.agent] = None if each.agent in only else each
    return only


def _of_pair(
    row: Rated, only: Mapping[str, WinRate | None], plan: RatingPlan, names: Sequence[str]
) -> Rated:
    """The row of an agent that met one other, which met no one else: half the pair's estimate.

    Where one of the two is held at a rating, the other has the whole estimate beside it.
    """
    pair, anchor = only.get(row.agent), None if plan.anchor is None else names[plan.anchor]
    if pair is None or row.agent == anchor or only.get(pair.opponent) is None:
        return row
    share, zero = (1.0, plan.anchor_elo) if pair.opponent == anchor else (0.5, 0.0)
    elo = transformed(pair.row.elo, lambda elo: zero + share * elo)
    if elo.kind is EstimateKind.CENSUS:
        elo = replace(elo, reason=EXACT)
    return replace(row, elo=elo, text=rating_text(elo))


def results_of(found: Sequence[Match], agents: int, blocks: int | None = None) -> Results:
    """The evidence of all matches, for rating; openings as at most `blocks` of them.

    It equals `stats.results.gather` of single games, but is summed match by match, which takes
    little memory even for a million openings.
    """
    most = 2 * sum(len(match.openings) for match in found)
    key, sums, at = np.empty(most, np.int64), np.empty((3, most)), 0
    for match in (match.evidence() for match in found):
        for seat in (match, match.mirrored()):
            met, amounts = _sums(seat, blocks)
            own = slice(at, at := at + len(met))
            key[own], sums[:, own] = met * agents**2 + seat.a * agents + seat.b, amounts
    key, order = key[:at], np.argsort(key[:at], kind="stable")
    games, points, drawn = (column[order] for column in sums)
    names, places = np.unique(key[order] // agents**2, return_inverse=True)
    pair = key[order] % agents**2
    return Results(agents, len(names), places.ravel(), pair, games, points, drawn)


def _sums(match: Match, blocks: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The openings, and games, points and draws on each where `a` moved first."""
    opening = match.openings if blocks is None else match.openings % blocks
    met, place = np.unique(opening, return_inverse=True)
    amounts = match.times, match.as_first * match.times, (match.as_first == DRAWN) * match.times
    sums = np.stack([np.bincount(place.ravel(), each, len(met)) for each in amounts])
    return met.astype(np.int64), sums.astype(np.float64)


def _played(
    found: Sequence[Match], names: Sequence[str], rates: Iterable[WinRate]
) -> list[RatingBasis]:
    """What the rating of each agent rests on."""
    place = {name: number for number, name in enumerate(names)}
    sums = np.zeros((len(names), 3), np.int64)
    for each in rates:
        counts = each.row.counts
        sums[place[each.agent]] += counts.games, counts.distinct_games or 0, each.forfeits
    points = [each.points for each in tallies(found, len(names))]
    return [_basis(at, found, points[at], *sums[at].tolist()) for at in range(len(names))]


def _basis(
    place: int, found: Sequence[Match], points: float, games: int, distinct: int, forfeits: int
) -> RatingBasis:
    met = [match.evidence() for match in found if place in (match.a, match.b)]
    openings = np.concatenate([np.empty(0, np.int32), *(match.openings for match in met)])
    times = np.concatenate([np.empty(0, np.int64), *(match.times for match in met)])
    return RatingBasis(
        games=games,
        points=points,
        distinct=distinct,
        openings=len(np.unique(openings)),
        effective=spread(openings, _around_half(met), times).effective_pairings,
        forfeits=forfeits,
    )


def _rated(
    rated: Ratings, place: int, name: str, basis: RatingBasis, standing: WithoutRating
) -> Rated:
    row = rated.agents[place]
    return Rated(
        agent=name,
        group=row.pool,
        elo=row.rating,
        games=basis.games,
        distinct=basis.distinct,
        counted=row.games,
        points=basis.points,
        openings=basis.openings,
        effective_pairings=basis.effective,
        forfeits=basis.forfeits,
        text=rating_text(row.rating),
        standing=standing,
    )


def _around_half(played: Sequence[Match]) -> NDArray[np.float64]:
    """Scores against all opponents as if all were equally strong, which leaves only the errors."""
    apart = [0.5 + (match.scores - _mean(match)) / 2.0 for match in played]
    return np.concatenate([np.empty(0), *apart])


def _mean(match: Match) -> float:
    return float((match.scores * match.times).sum()) / match.pairings


def _group(
    pool: Pool,
    rated: Ratings,
    names: Sequence[str],
    results: Results,
    standing: Mapping[str, WithoutRating],
) -> Group:
    games = sum(rated.agents[member].games for member in pool.members) // 2
    text = first_move_text(pool, games) if len(pool.members) > 1 else ""
    found = misfit_of(results, pool, rated.plan.seed) if rated.plan.draws else None
    members = tuple(names[member] for member in pool.members)
    return Group(members, pool.advantage, text, found, misfit_text(found, names, standing))


def _bridges(rated: Ratings, results: Results, names: Sequence[str]) -> tuple[str, ...]:
    if len(rated.pools) < 2:
        return ()
    return tuple(bridge_text(bridge, rated, names) for bridge in bridges(results, rated))
