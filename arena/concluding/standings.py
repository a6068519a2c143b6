"""The ratings of a run, group by group, from the games that are evidence."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.concluding.evidence import Match
from arena.concluding.win_rates import WinRate, raw
from arena.stats.bradley_terry import EXACT
from arena.stats.clusters import spread
from arena.stats.estimate import Estimate, EstimateKind, nothing, transformed
from arena.stats.pool_gaps import bridges
from arena.stats.rating_words import bridge_text, first_move_text, rating_text
from arena.stats.ratings import Pool, RatingPlan, Ratings, rate
from arena.stats.results import Results

# More openings are drawn in blocks: these are as independent, and the draws stay small.
BLOCKS = 20_000
DRAWN = 0.5
ONLY_FORFEITS = "only forfeits"
FARTHEST = 1e9  # Elo


@dataclass(frozen=True, slots=True)
class Rated:
    """One agent's rating; agents of different groups cannot be compared.

    `games` are all that it played, `points` those of the `counted` ones, `effective_pairings`
    the independent ones that would be as sure: pairings on one opening are not independent,
    also against different opponents.
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


@dataclass(frozen=True, slots=True)
class Group:
    """Agents whose ratings can be compared, and what the first move is worth among them."""

    agents: tuple[str, ...]
    first_move: Estimate
    text: str


@dataclass(frozen=True, slots=True)
class Standings:
    """Agents ordered by group, then by strength; `bridges` say how far groups are apart."""

    agents: tuple[Rated, ...]
    groups: tuple[Group, ...]
    bridges: tuple[str, ...]


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
    rated = rate(results_of(found, len(names), BLOCKS), plan)
    rows = [_rated(rated, place, found, names, rates) for place in range(len(names))]
    rows = [_of_pair(row, found, rates, plan) for row in rows]
    if stopped:
        rows = [replace(row, elo=raw(row.elo)) for row in rows]
    rows = [_only_forfeits(row) if row.agent in faulty else row for row in rows]
    return Standings(
        agents=tuple(sorted(rows, key=_place)),
        groups=tuple(_group(pool, rated, names) for pool in rated.pools),
        bridges=_bridges(rated, found, names),
    )


def _place(row: Rated) -> tuple[bool, int, float]:
    """Ranked agents first, by group, then by strength."""
    elo = row.elo.value
    if elo is None:  # a bound alone: above or below all that is known
        elo = FARTHEST if row.elo.low is not None else -FARTHEST
    return row.elo.reason == ONLY_FORFEITS, row.group, 0.0 - elo


def _only_forfeits(row: Rated) -> Rated:
    elo = nothing(ONLY_FORFEITS, level=row.elo.level)
    return replace(row, elo=elo, text=ONLY_FORFEITS)


def _of_pair(
    row: Rated, found: Sequence[Match], rates: Sequence[WinRate], plan: RatingPlan
) -> Rated:
    """The row of an agent that met one other, which met no one else: half the pair's estimate."""
    own = [rate for rate in rates if rate.agent == row.agent]
    if len(own) != 1 or plan.anchor is not None:
        return row
    (pair,) = own
    alone = sum(rate.agent == pair.opponent for rate in rates) == 1
    if not alone or not found:
        return row
    elo = transformed(pair.row.elo, lambda elo: 0.5 * elo)
    if elo.kind is EstimateKind.CENSUS:
        elo = replace(elo, reason=EXACT)
    return replace(row, elo=elo, text=rating_text(elo))


def results_of(found: Sequence[Match], agents: int, blocks: int | None = None) -> Results:
    """The evidence of all matches, for rating; openings as at most `blocks` of them.

    It equals `stats.results.gather` of single games, but is summed match by match, which takes
    little memory even for a million openings.
    """
    parts = [np.empty((0, 5))]
    for match in (match.evidence() for match in found):
        for seat in (match, match.mirrored()):
            parts.append(_sums(seat, seat.a * agents + seat.b, blocks))
    opening, pair, *sums = np.concatenate(parts).T
    names, places = np.unique(opening.astype(np.int64), return_inverse=True)
    order = np.argsort(places * agents**2 + pair, kind="stable")
    pairs = pair.astype(np.int64)[order]
    return Results(agents, len(names), places[order], pairs, *(column[order] for column in sums))


def _sums(match: Match, pair: int, blocks: int | None) -> NDArray[np.float64]:
    """Opening, `pair`, games, points and draws where `a` moved first: one row an opening."""
    opening = match.openings if blocks is None else match.openings % blocks
    games = np.bincount(opening)
    points = np.bincount(opening, match.as_first)
    drawn = np.bincount(opening, match.as_first == DRAWN)
    met = np.flatnonzero(games)
    return np.stack([met, np.full(len(met), pair), games[met], points[met], drawn[met]], axis=1)


def _rated(
    rated: Ratings,
    place: int,
    found: Sequence[Match],
    names: Sequence[str],
    rates: Sequence[WinRate],
) -> Rated:
    row, name = rated.agents[place], names[place]
    own = [rate for rate in rates if rate.agent == name]
    played = [match.evidence() for match in found if place in (match.a, match.b)]
    openings = np.concatenate([np.empty(0, np.int32), *(match.openings for match in played)])
    return Rated(
        agent=name,
        group=row.pool,
        elo=row.rating,
        games=sum(rate.row.counts.games for rate in own),
        distinct=sum(rate.row.counts.distinct_games or 0 for rate in own),
        counted=row.games,
        points=row.points,
        openings=len(np.unique(openings)),
        effective_pairings=spread(openings, _around_half(played)).effective_pairings,
        forfeits=sum(rate.forfeits for rate in own),
        text=rating_text(row.rating),
    )


def _around_half(played: Sequence[Match]) -> NDArray[np.float64]:
    """Scores against all opponents as if all were equally strong, which leaves only the errors."""
    apart = [0.5 + (match.scores - match.scores.mean()) / 2.0 for match in played]
    return np.concatenate([np.empty(0), *apart])


def _group(pool: Pool, rated: Ratings, names: Sequence[str]) -> Group:
    games = sum(rated.agents[member].games for member in pool.members) // 2
    text = first_move_text(pool, games) if len(pool.members) > 1 else ""
    return Group(tuple(names[member] for member in pool.members), pool.advantage, text)


def _bridges(rated: Ratings, found: Sequence[Match], names: Sequence[str]) -> tuple[str, ...]:
    if len(rated.pools) < 2:
        return ()
    crossings = bridges(results_of(found, len(names)), rated)
    return tuple(bridge_text(bridge, rated, names) for bridge in crossings)
