"""The ratings of a run, group by group, from the games that say something."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.evidence import Match
from arena.stats.bridges import bridges
from arena.stats.estimate import Estimate
from arena.stats.rating_words import bridge_text, first_move_text, rating_text
from arena.stats.ratings import Pool, RatingPlan, Ratings, rate
from arena.stats.results import Results, gather
from arena.win_rates import WinRate

# More openings than these are drawn in blocks: as independent, and the draws stay small.
BLOCKS = 20_000


@dataclass(frozen=True, slots=True)
class Rated:
    """One agent's rating; agents of different groups cannot be compared.

    `games` are all that it played, `points` those of the `counted` ones.
    """

    agent: str
    group: int
    elo: Estimate
    games: int
    counted: int
    points: float
    openings: int
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
    found: Sequence[Match], names: Sequence[str], rates: Sequence[WinRate], plan: RatingPlan
) -> Standings:
    """Rate the agents of all matches; `rates` are the same matches from both sides."""
    rated = rate(results_of(found, len(names), BLOCKS), plan)
    rows = [_rated(rated, place, found, names, rates) for place in range(len(names))]
    return Standings(
        agents=tuple(sorted(rows, key=lambda row: (row.group, 0.0 - (row.elo.value or 0.0)))),
        groups=tuple(_group(pool, rated, names) for pool in rated.pools),
        bridges=_bridges(rated, found, names),
    )


def results_of(found: Sequence[Match], agents: int, blocks: int | None = None) -> Results:
    """The evidence of all matches, for rating; openings as at most `blocks` of them."""
    first, second, scores, openings = [], [], [], []
    for match in (match.evidence() for match in found):
        for seat in (match, match.mirrored()):
            size = len(seat.openings)
            first.append(np.full(size, seat.a))
            second.append(np.full(size, seat.b))
            scores.append(seat.as_first)
            openings.append(seat.openings)
    none = np.empty(0, np.int64)
    opening = np.concatenate([none, *openings])
    if blocks is not None:
        opening %= blocks
    seats = np.concatenate([none, *first]), np.concatenate([none, *second])
    return gather(*seats, np.concatenate([none, *scores]), opening, agents)


def _rated(
    rated: Ratings,
    place: int,
    found: Sequence[Match],
    names: Sequence[str],
    rates: Sequence[WinRate],
) -> Rated:
    row, name = rated.agents[place], names[place]
    own = [rate for rate in rates if rate.agent == name]
    played = [match.openings for match in found if place in (match.a, match.b)]
    return Rated(
        agent=name,
        group=row.pool,
        elo=row.rating,
        games=sum(rate.row.counts.games for rate in own),
        counted=row.games,
        points=row.points,
        openings=len(np.unique(np.concatenate(played))) if played else 0,
        forfeits=sum(rate.forfeits for rate in own),
        text=rating_text(row.rating),
    )


def _group(pool: Pool, rated: Ratings, names: Sequence[str]) -> Group:
    games = sum(rated.agents[member].games for member in pool.members) // 2
    text = first_move_text(pool, games) if len(pool.members) > 1 else ""
    return Group(tuple(names[member] for member in pool.members), pool.advantage, text)


def _bridges(rated: Ratings, found: Sequence[Match], names: Sequence[str]) -> tuple[str, ...]:
    if len(rated.pools) < 2:
        return ()
    crossings = bridges(results_of(found, len(names)), rated)
    return tuple(bridge_text(bridge, rated, names) for bridge in crossings)
