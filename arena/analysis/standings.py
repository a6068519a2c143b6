"""Agents ranked by rating and by points; warning about cycles."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.exclusions import EXCLUDED
from arena.analysis.match_counts import Match
from arena.analysis.win_rates import ONLY_FORFEITS, WinRate
from arena.planning.rounds import OUT, TournamentStanding
from arena.stats.bradley_terry import EXACT
from arena.stats.elo import FEW_OPENINGS
from arena.stats.estimate import Estimate, EstimateKind, no_estimate, transform
from arena.stats.intervals import lower_bound
from arena.stats.rating_data import RatingData, in_order_of_content, select_agents
from arena.stats.rating_fit import FirstMove
from arena.stats.ratings import (
    OpponentField,
    RatingGroup,
    RatingPlan,
    Ratings,
    rate,
    rating_at,
)
from arena.stats.spread import Spread, spread
from arena.stats.sprt_estimates import as_raw
from arena.stats.text import first_move_text, rating_text

WRONG = 0.05  # the share of tables in which a match may wrongly be called settled
TIES = "if points are equal, games won decide, then the sum of the final scores"
# More openings are drawn in blocks: these are as independent, and the draws stay small.
BLOCKS = 20_000
DRAWN = 0.5
USUAL = "bradley_terry"  # the method of runs
FARTHEST = 1e9  # Elo


def cycle_of(names: Sequence[str], rates: Iterable[WinRate]) -> tuple[str, ...]:
    """Return three agents of which each beats the next, in a ring; empty if there are none.

    Each win is settled at a level that holds for all matches together (Bonferroni).
    """
    place, size = {name: number for number, name in enumerate(names)}, len(names)
    above, spreads = np.zeros((size, size)), dict[tuple[int, int], Spread]()
    for each in rates:
        if (each.row.like.score.low or 0.0) > 0.5:
            at = place[each.agent], place[each.opponent]
            above[at], spreads[at] = 1.0, each.row.like.spread
    level = 1.0 - WRONG / max(size * (size - 1), 1)
    for one, other in np.argwhere(above * (above @ above).T).tolist():  # usually none
        above[one, other] = lower_bound(spreads[one, other], level) > 0.5
    rings = np.argwhere(above * (above @ above).T)
    if not len(rings):
        return ()
    first, second = rings[0]
    third = np.flatnonzero(above[second] * above[:, first])[0]
    return names[first], names[second], names[third]


class GameTally(NamedTuple):
    """All games of one agent, duplicates and forfeits included.

    `margin` sums the final scores, its own minus the other's, of games without a forfeit.
    """

    won: int = 0
    drawn: int = 0
    lost: int = 0
    margin: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """One for a game won, half for a draw."""
        return self.won + self.drawn / 2

    @property
    def score(self) -> float:
        """Points per game; 0 without games."""
        return self.points / (self.games or 1)

    def plus(self, other: "GameTally") -> "GameTally":
        """The sum of both."""
        return GameTally(*(one + more for one, more in zip(self, other, strict=True)))


class PointsRow(NamedTuple):
    """One agent; agents that are equal in `score`, games won and `margin` share the `place`."""

    place: int
    agent: str
    points: float
    games: int
    score: float
    won: int
    drawn: int
    lost: int
    margin: int
    champion: int


def tallies(found: Sequence[Match], agents: int) -> list[GameTally]:
    """Return the games of each agent, by place."""
    sums = [GameTally()] * agents
    for match in found:
        for side in (match, match.mirrored()):
            sums[side.a] = sums[side.a].plus(_tally(side))
    return sums


def _tally(match: Match) -> GameTally:
    """Return the games of `match.a`: two excluded bots both lose a game that neither played."""
    won, lost, unearned = match.won, match.mirrored().won, match.unearned[0]
    drawn = 2 * match.pairings - won - lost
    return GameTally(won - unearned, drawn, lost + unearned, match.margin)


def official_places(
    own: Mapping[str, GameTally],
    rated: Sequence["AgentStanding"],
    *,
    openings: int,
    by_points: bool = False,
    standing: TournamentStanding | None = None,
    excluded: Collection[str] = (),
) -> dict[str, int]:
    """Return the place of each agent, in the official order; equals share a place.

    By points, then games won and final scores, if the experiment asks for it. Else as the schedule
    ended; else by rating, and by points where there are too few openings for ratings or all games
    of an agent were forfeited. Bots that the run `excluded` come after all others.
    """
    names, by_rating = [row.agent for row in rated], {row.agent: _place(row) for row in rated}
    points = {name: _key(own[name]) for name in names}
    if by_points:
        keys = points
        names = [name for name in own if name in keys]
    elif openings < FEW_OPENINGS:
        keys = {name: points[name][:2] for name in names}
    else:
        keys = {
            name: (key[0], *points[name][:2]) if key[0] else key for name, key in by_rating.items()
        }
    if standing is not None and not by_points:
        keys |= _scheduled_keys(standing, [*own], keys)
    return _places(names, {name: (name in excluded, *keys[name]) for name in names})


def _scheduled_keys(
    standing: TournamentStanding, names: Sequence[str], otherwise: Mapping[str, tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    """Return the ranks that a schedule gave; none if it says nothing of any agent.

    Agents that are still in share the first free place; those that are out without a place come
    next, ordered as they are `otherwise`.
    """
    given = {row.place for row in standing.rows if row.place is not None}
    if not given and not any(row.state == OUT for row in standing.rows):
        return {}
    free, keys = min(set(range(1, len(standing.rows) + 2)) - given), {}
    for row in standing.rows:
        name, inside = names[row.agent], row.place is not None or row.state != OUT
        rank = free if row.place is None else row.place
        keys[name] = (float(rank),) if inside else (rank + 0.5, *otherwise[name])
    return keys


def _places(agents: Sequence[str], keys: Mapping[str, tuple[float, ...]]) -> dict[str, int]:
    """Places by keys, the smallest first; equals share a place, in the order of `agents`."""
    order = sorted(agents, key=keys.__getitem__)
    places: dict[str, int] = {}
    for at, name in enumerate(order):
        same = at > 0 and keys[name] == keys[order[at - 1]]
        places[name] = places[order[at - 1]] if same else at + 1
    return places


def _key(own: GameTally) -> tuple[float, ...]:
    """Rank by points per game, as agents may have played different numbers of games."""
    games = own.games or 1
    return own.games == 0, -own.score, -own.won / games, -own.margin / games


def points_standings(own: Mapping[str, GameTally], places: Mapping[str, int]) -> list[PointsRow]:
    """One row for each agent that played, in the official order."""
    return [
        PointsRow(
            place=place,
            agent=name,
            points=own[name].points,
            games=own[name].games,
            score=round(own[name].score, 6),
            won=own[name].won,
            drawn=own[name].drawn,
            lost=own[name].lost,
            margin=own[name].margin,
            champion=int(place == 1),
        )
        for name, place in places.items()
        if own[name].games
    ]


def points_table_lines(rows: Sequence[PointsRow], excluded: Collection[str] = ()) -> list[str]:
    """Return the table in lines, the champion in the last one but one.

    Bots that the run `excluded` are marked.
    """
    if not rows:
        return []
    width = max(5, *(len(row.agent) for row in rows))
    lines = [f"place  {'agent':<{width}}  points  games    won  drawn   lost  scores"]
    lines += [
        f"{row.place:>5}  {row.agent:<{width}}  {row.points:>6g}  {row.games:>5}  {row.won:>5}  "
        f"{row.drawn:>5}  {row.lost:>5}  {row.margin:>+6d}"
        + f"  {EXCLUDED}"
        * (row.agent in excluded)
        for row in rows
    ]
    first = [row.agent for row in rows if row.champion]
    word = "champion" if len(first) == 1 else "champions, equal in all"
    return [*lines, f"{word}: {', '.join(first)}", f"({TIES})"]


@dataclass(frozen=True, slots=True)
class AgentStanding:
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
    place: int = 0  # in the official order


@dataclass(frozen=True, slots=True)
class Group:
    """Agents whose ratings can be compared, and what the first move is worth among them.

    `cycle` warns of agents that beat each other in a ring; it is empty if there are none.
    """

    agents: tuple[str, ...]
    first_move: Estimate
    text: str
    cycle: str = ""


@dataclass(frozen=True, slots=True)
class Standings:
    """Agents ordered by group, then by strength."""

    agents: tuple[AgentStanding, ...]
    groups: tuple[Group, ...]


class SampleSizes(NamedTuple):
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
    results = rating_data_of_matches(found, len(names), BLOCKS)
    fair = None
    if not all(match.fair.all() for match in found):
        fair = rating_data_of_matches([match.fair_pairs() for match in found], len(names), BLOCKS)
    played = _played(found, names, rates)
    ranked = rank_agents(results, names, rates, played, plan, fair=fair, faulty=faulty)
    if stopped:
        ranked = as_raw_ratings(ranked)
    return ranked


def as_raw_ratings(found: Standings, stopped: Collection[str] | None = None) -> Standings:
    """Label the ratings that rest on games a sequential test ended.

    `stopped` names the agents of such games (None: all); ratings of one group rest on each other.
    """
    groups = {
        number
        for number, group in enumerate(found.groups)
        if stopped is None or not set(stopped).isdisjoint(group.agents)
    }
    rows = (replace(r, elo=as_raw(r.elo)) if r.group in groups else r for r in found.agents)
    return replace(found, agents=tuple(rows))


def rank_agents(
    results: RatingData,
    names: Sequence[str],
    rates: Sequence[WinRate],
    played: Sequence[SampleSizes],
    plan: RatingPlan,
    *,
    fair: RatingData | None = None,
    faulty: Collection[str] = (),
    method: str = USUAL,
) -> Standings:
    """Agents rated by a method and ranked; `played` says what each rating rests on.

    `fair` are the pairs without a forfeit, from which the first move is rated; None if all are.
    The games decide the draws of the bootstrap; another `plan.seed` gives others.
    """
    results, own_seed = in_order_of_content(results, names)
    plan = replace(plan, seed=plan.seed ^ own_seed)
    rated, cycle = rate(results, plan, method), cycle_of(names, rates)
    rows = [_rated(rated, place, name, played[place]) for place, name in enumerate(names)]
    if method == USUAL:
        only = _only_rates(rates)
        rows = [_of_pair(row, only, plan, names) for row in rows]
    rows = [_only_forfeits(row) if row.agent in faulty else row for row in rows]
    ordered = enumerate(sorted(rows, key=_place), 1)
    moves = [_first_move(pool, results, fair, names, plan, method) for pool in rated.pools]
    if method == USUAL:
        moves = [(_first_move_of_pair(pool, only, names), games) for pool, games in moves]
    return Standings(
        agents=tuple(replace(row, place=place) for place, row in ordered),
        groups=tuple(_group(pool, names, cycle) for pool in moves),
    )


def in_official_order(found: Standings, places: Mapping[str, int]) -> Standings:
    """The same agents with their places, in the order of these."""
    rows = {row.agent: row for row in found.agents}
    ordered = tuple(replace(rows[name], place=place) for name, place in places.items())
    return replace(found, agents=ordered)


def _place(row: AgentStanding) -> tuple[float, ...]:
    """Return the rank of a rating: agents with a fair game first, by group, then by strength."""
    elo = row.elo.value
    if elo is None:  # a bound alone: above or below all that is known
        elo = FARTHEST if row.elo.low is not None else -FARTHEST
    # Further digits are rounding errors of the machine.
    return float(row.elo.reason == ONLY_FORFEITS), float(row.group), 0.0 - round(elo, 6)


def _only_forfeits(row: AgentStanding) -> AgentStanding:
    elo = no_estimate(ONLY_FORFEITS, level=row.elo.level)
    return replace(row, elo=elo, text=ONLY_FORFEITS)


def _only_rates(rates: Iterable[WinRate]) -> Mapping[str, WinRate | None]:
    """The one match of every agent that met somebody; None where it met several."""
    only: dict[str, WinRate | None] = {}
    for each in rates:
        only[each.agent] = None if each.agent in only else each
    return only


def _of_pair(
    row: AgentStanding, only: Mapping[str, WinRate | None], plan: RatingPlan, names: Sequence[str]
) -> AgentStanding:
    """The row of an agent that met one other, which met no one else: half the pair's estimate.

    Where one of the two is held at a rating, the other has the whole estimate beside it.
    """
    pair, anchor = only.get(row.agent), None if plan.anchor is None else names[plan.anchor]
    if pair is None or row.agent == anchor or only.get(pair.opponent) is None:
        return row
    share, zero = (1.0, plan.anchor_elo) if pair.opponent == anchor else (0.5, 0.0)
    elo = transform(pair.row.elo, lambda elo: zero + share * elo)
    if elo.kind is EstimateKind.CENSUS:
        elo = replace(elo, reason=EXACT)
    return replace(row, elo=elo, text=rating_text(elo))


def rating_data_of_matches(
    found: Sequence[Match], agents: int, blocks: int | None = None
) -> RatingData:
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
    return RatingData(agents, len(names), places.ravel(), pair, games, points, drawn)


def _sums(match: Match, blocks: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The openings, and games, points and draws on each where `a` moved first."""
    opening = match.openings if blocks is None else match.openings % blocks
    met, place = np.unique(opening, return_inverse=True)
    amounts = match.times, match.as_first * match.times, (match.as_first == DRAWN) * match.times
    sums = np.stack([np.bincount(place.ravel(), each, len(met)) for each in amounts])
    return met.astype(np.int64), sums.astype(np.float64)


def _played(
    found: Sequence[Match], names: Sequence[str], rates: Iterable[WinRate]
) -> list[SampleSizes]:
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
) -> SampleSizes:
    met = [match.evidence() for match in found if place in (match.a, match.b)]
    openings = np.concatenate([np.empty(0, np.int32), *(match.openings for match in met)])
    times = np.concatenate([np.empty(0, np.int64), *(match.times for match in met)])
    return SampleSizes(
        games=games,
        points=points,
        distinct=distinct,
        openings=len(np.unique(openings)),
        effective=spread(openings, _around_half(met), times).effective_pairings,
        forfeits=forfeits,
    )


def _rated(rated: Ratings, place: int, name: str, basis: SampleSizes) -> AgentStanding:
    row = rated.agents[place]
    return AgentStanding(
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
    )


def _around_half(played: Sequence[Match]) -> NDArray[np.float64]:
    """Scores against all opponents as if all were equally strong, which leaves only the errors."""
    apart = [0.5 + (match.scores - _mean(match)) / 2.0 for match in played]
    return np.concatenate([np.empty(0), *apart])


def _mean(match: Match) -> float:
    return float((match.scores * match.times).sum()) / match.pairings


def _first_move(
    pool: RatingGroup,
    played: RatingData,
    fair: RatingData | None,
    names: Sequence[str],
    plan: RatingPlan,
    method: str,
) -> tuple[RatingGroup, int]:
    """Return a group with its first move rated from fair games alone, and how many they are.

    A forfeit is lost in either seat, so it says nothing of the first move.
    """
    members = np.array(pool.members)
    own = select_agents(played, members)
    kept = own if fair is None else select_agents(fair, members)
    games = int(kept.games.sum())
    if games == int(own.games.sum()):
        return pool, games
    kept, seed = in_order_of_content(kept, [names[member] for member in pool.members])
    rated = rate(kept, replace(plan, seed=plan.seed ^ seed, anchor=None, census=False), method)
    several = [group for group in rated.pools if len(group.members) > 1]
    if len(several) != 1:
        unknown = no_estimate(str(FirstMove.UNKNOWN), level=plan.level)
        return replace(pool, first_move=FirstMove.UNKNOWN, advantage=unknown), games
    fitted = several[0]
    return replace(pool, first_move=fitted.first_move, advantage=fitted.advantage), games


def _first_move_of_pair(
    pool: RatingGroup, only: Mapping[str, WinRate | None], names: Sequence[str]
) -> RatingGroup:
    """Return a group of two that met nobody else, its first move bounded as the score is.

    So score and Elo never disagree on which mover has the advantage.
    """
    pair, *others = (only.get(names[member]) for member in pool.members)
    if pair is None or len(others) != 1 or others[0] is None:
        return pool
    if pool.first_move is not FirstMove.FITTED:
        return pool
    field = OpponentField(
        np.diff(pool.fitted.ratings[0]) * np.array([[1.0], [-1.0]]).ravel(),
        np.zeros(2), np.ones(2), spread([], []),
    )  # fmt: skip
    known = transform(pair.row.first_mover, lambda share: rating_at(field, 0.0, share))
    return replace(pool, advantage=replace(known, value=pool.advantage.value))


def _group(
    own: tuple[RatingGroup, int],
    names: Sequence[str],
    cycle: Sequence[str],
) -> Group:
    pool, games = own
    members = tuple(names[member] for member in pool.members)
    text = first_move_text(pool, games) if len(pool.members) > 1 and games else ""
    warning = ""
    if cycle and cycle[0] in members:  # agents in a ring are always in one group
        a, b, c = cycle
        warning = (
            f"{a} beats {b}, {b} beats {c}, {c} beats {a} (95 % for all matches together): "
            "one rating for each agent does not describe these results"
        )
    return Group(members, pool.advantage, text, warning)
