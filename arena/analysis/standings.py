"""Agents ranked by rating and by points; warning about cycles."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.evidence import EXCLUDED
from arena.analysis.match_counts import Match
from arena.analysis.win_rates import ONLY_FORFEITS, WinRate
from arena.planning.rounds import OUT, TournamentStanding
from arena.stats.estimate import FEW_OPENINGS, Estimate, EstimateKind, no_estimate, transform
from arena.stats.intervals import lower_bound
from arena.stats.rating_data import RatingData, select_agents, sort_by_content
from arena.stats.rating_fit import FirstMove
from arena.stats.ratings import (
    EXACT,
    OpponentField,
    RatingGroup,
    RatingPlan,
    rate,
    rating_of_score,
)
from arena.stats.spread import Spread, spread
from arena.stats.sprt_estimates import as_raw
from arena.stats.text import first_move_text, rating_text

ERROR_SHARE = 0.05  # share of tables in which some match may wrongly count as settled
TIES = "if points are equal, games won decide, then the sum of the final scores"
# More openings are drawn in blocks, which are as independent and keep the draws small.
BLOCKS = 20_000
DRAW_SCORE = 0.5
MAX_ELO = 1e9  # Elo


def find_cycle(names: Sequence[str], rates: Iterable[WinRate]) -> tuple[str, ...]:
    """Return three agents of which each beats the next; () if there are none.

    Each win is significant at a level that holds for all matches together (Bonferroni).
    """
    place, size = {name: number for number, name in enumerate(names)}, len(names)
    above, spreads = np.zeros((size, size)), dict[tuple[int, int], Spread]()
    for each in rates:
        if (each.row.like.score.low or 0.0) > 0.5:
            at = place[each.agent], place[each.opponent]
            above[at], spreads[at] = 1.0, each.row.like.spread
    level = 1.0 - ERROR_SHARE / max(size * (size - 1), 1)
    for one, other in np.argwhere(above * (above @ above).T).tolist():
        above[one, other] = lower_bound(spreads[one, other], level) > 0.5
    rings = np.argwhere(above * (above @ above).T)
    if not len(rings):
        return ()
    first, second = rings[0]
    third = np.flatnonzero(above[second] * above[:, first])[0]
    return names[first], names[second], names[third]


class GameTally(NamedTuple):
    """All games of one agent, including duplicates and forfeits.

    `margin` sums its margins in games without a forfeit.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    margin: int = 0

    @property
    def games(self) -> int:
        """Return the number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Return the points: one for a win, half for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Return the points per game; 0 without games."""
        return self.points / (self.games or 1)


class PointsRow(NamedTuple):
    """One agent; agents equal in `score`, games won and `margin` share the `place`."""

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


def tallies(matches: Sequence[Match], agents: int) -> list[GameTally]:
    """Return the games of each agent, by place."""
    sums = [GameTally()] * agents
    for match in matches:
        for side in (match, match.mirror()):
            wins, losses = side.wins, side.mirror().wins
            draws, unearned = 2 * side.pairs - wins - losses, side.unearned_wins[0]
            # Both agents lose a game that neither of them played.
            tally = wins - unearned, draws, losses + unearned, side.margin
            sums[side.a] = GameTally(*(a + b for a, b in zip(sums[side.a], tally, strict=True)))
    return sums


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

    With `by_points`, points decide, then games won and margins. Otherwise the schedule's result
    decides, then ratings, and points if there are too few openings for ratings or if all games of
    an agent were forfeited. Excluded bots come last.
    """
    names, by_rating = [row.agent for row in rated], {row.agent: _rating_key(row) for row in rated}
    points = {name: _points_key(own[name]) for name in names}
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
        keys |= _schedule_keys(standing, [*own], keys)
    return _places(names, {name: (name in excluded, *keys[name]) for name in names})


def _schedule_keys(
    standing: TournamentStanding, names: Sequence[str], otherwise: Mapping[str, tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    """Return the ranks that a schedule gave; none if it ranked no agent.

    Agents that are still in share the first free place. Those that are out without a place come
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
    """Return places by keys, the smallest first; equals share a place, in the order of `agents`."""
    order = sorted(agents, key=keys.__getitem__)
    places: dict[str, int] = {}
    for at, name in enumerate(order):
        same = at > 0 and keys[name] == keys[order[at - 1]]
        places[name] = places[order[at - 1]] if same else at + 1
    return places


def _points_key(own: GameTally) -> tuple[float, ...]:
    """Rank by points per game, because agents may have played different numbers of games."""
    games = own.games or 1
    return own.games == 0, -own.score, -own.wins / games, -own.margin / games


def points_standings(own: Mapping[str, GameTally], places: Mapping[str, int]) -> list[PointsRow]:
    """Return one row for each agent that played, in the official order."""
    played = {name: place for name, place in places.items() if own[name].games}
    return [
        PointsRow(
            place, name, tally.points, tally.games, round(tally.score, 6), *tally, int(place == 1)
        )
        for name, place in played.items()
        for tally in [own[name]]
    ]


def points_table_lines(rows: Sequence[PointsRow], excluded: Collection[str] = ()) -> list[str]:
    """Return the table as lines, with marks for excluded bots and the champions at the end."""
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

    `points` are those of all `games`; the rating uses the `evidence_games`. `effective_pairs` is
    the number of independent pairs with the same error: pairs on one opening are not independent,
    even against different opponents.
    """

    agent: str
    group: int
    elo: Estimate
    games: int
    distinct_games: int
    evidence_games: int
    points: float
    openings: int
    effective_pairs: float
    forfeits: int
    text: str
    place: int = 0  # in the official order


@dataclass(frozen=True, slots=True)
class Group:
    """Agents with comparable ratings, and the value of the first move among them.

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


class RatingBasis(NamedTuple):
    """The games behind one agent's rating."""

    games: int
    points: float
    distinct_games: int
    openings: int
    effective_pairs: float
    forfeits: int


def standings(
    matches: Sequence[Match],
    names: Sequence[str],
    rates: Iterable[WinRate],
    plan: RatingPlan,
    by_test: bool,
    faulty: Collection[str] = (),
) -> Standings:
    """Rate the agents of all matches; `rates` are the same matches from both sides.

    `by_test`: a sequential test ended them. All games of `faulty` agents ended by a fault, so they
    show no strength.
    """
    results = rating_data_of_matches(matches, len(names), BLOCKS)
    fair = None
    if not all(match.fair.all() for match in matches):
        fair = rating_data_of_matches([match.fair_pairs() for match in matches], len(names), BLOCKS)
    points = [tally.points for tally in tallies(matches, len(names))]
    bases = [_rating_basis(place, matches, own) for place, own in enumerate(points)]
    ranked = rank_agents(results, names, rates, bases, plan, fair=fair, faulty=faulty)
    return as_raw_ratings(ranked) if by_test else ranked


def as_raw_ratings(found: Standings, stopped: Collection[str] | None = None) -> Standings:
    """Label the ratings from games that a sequential test ended.

    `stopped` names the agents of such games (None: all); ratings of one group depend on each other.
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
    rates: Iterable[WinRate],
    bases: Sequence[RatingBasis],
    plan: RatingPlan,
    *,
    fair: RatingData | None = None,
    faulty: Collection[str] = (),
) -> Standings:
    """Rate and rank agents; `bases` are the games behind each rating.

    `fair` are the pairs without a forfeit, which determine the first move; None if all are. The
    games determine the draws of the bootstrap; another `plan.seed` gives other draws.
    """
    results, own_seed = sort_by_content(results, names)
    plan = replace(plan, seed=plan.seed ^ own_seed)
    rated, cycle = rate(results, plan), find_cycle(names, rates)
    only, rows = _single_matches(rates), []
    for row, basis, name in zip(rated.agents, bases, names, strict=True):
        elo = _pair_rating(name, only, plan, names) or row.rating
        text = rating_text(elo)
        if name in faulty:
            elo, text = no_estimate(ONLY_FORFEITS, level=elo.level), ONLY_FORFEITS
        rows.append(
            AgentStanding(
                agent=name,
                group=row.group,
                elo=elo,
                games=basis.games,
                distinct_games=basis.distinct_games,
                evidence_games=row.games,
                points=basis.points,
                openings=basis.openings,
                effective_pairs=basis.effective_pairs,
                forfeits=basis.forfeits,
                text=text,
            )
        )
    ordered = enumerate(sorted(rows, key=_rating_key), 1)
    groups = []
    for group in rated.groups:
        fitted, games = _first_move_of_fair_games(group, results, fair, names, plan)
        groups.append(_group(_first_move_of_pair(fitted, only, names), games, names, cycle))
    return Standings(
        agents=tuple(replace(row, place=place) for place, row in ordered), groups=tuple(groups)
    )


def sort_by_place(found: Standings, places: Mapping[str, int]) -> Standings:
    """Return the agents with their official places, in that order."""
    rows = {row.agent: row for row in found.agents}
    ordered = tuple(replace(rows[name], place=place) for name, place in places.items())
    return replace(found, agents=ordered)


def _rating_key(row: AgentStanding) -> tuple[float, ...]:
    """Rank by rating: agents with a fair game first, by group, then by strength."""
    elo = row.elo.value
    if elo is None:  # only a bound: rank above or below all known ratings
        elo = MAX_ELO if row.elo.low is not None else -MAX_ELO
    # Further digits depend on the machine.
    return float(row.elo.reason == ONLY_FORFEITS), float(row.group), 0.0 - round(elo, 6)


def _single_matches(rates: Iterable[WinRate]) -> Mapping[str, WinRate | None]:
    """Return the match of every agent that met one opponent; None if it met several."""
    only: dict[str, WinRate | None] = {}
    for each in rates:
        only[each.agent] = None if each.agent in only else each
    return only


def _pair_rating(
    agent: str, only: Mapping[str, WinRate | None], plan: RatingPlan, names: Sequence[str]
) -> Estimate | None:
    """Return half of the pair's estimate for two agents that met only each other, else None.

    If one of them is the anchor, the other has the whole estimate, relative to the anchor.
    """
    pair, anchor = only.get(agent), None if plan.anchor is None else names[plan.anchor]
    if pair is None or agent == anchor or only.get(pair.opponent) is None:
        return None
    share, zero = (1.0, plan.anchor_elo) if pair.opponent == anchor else (0.5, 0.0)
    elo = transform(pair.row.elo, lambda elo: zero + share * elo)
    return replace(elo, reason=EXACT) if elo.kind is EstimateKind.CENSUS else elo


def rating_data_of_matches(
    matches: Sequence[Match], agents: int, blocks: int | None = None
) -> RatingData:
    """Return the evidence of all matches for rating; openings as at most `blocks` of them.

    The result equals `rating_data` of single games, but needs little memory even for a million
    openings.
    """
    most = 2 * sum(len(match.openings) for match in matches)
    key, sums, at = np.empty(most, np.int64), np.empty((3, most)), 0
    for match in (match.evidence() for match in matches):
        for seat in (match, match.mirror()):
            met, amounts = _opening_sums(seat, blocks)
            own = slice(at, at := at + len(met))
            key[own], sums[:, own] = met * agents**2 + seat.a * agents + seat.b, amounts
    key, order = key[:at], np.argsort(key[:at], kind="stable")
    games, points, drawn = (column[order] for column in sums)
    names, places = np.unique(key[order] // agents**2, return_inverse=True)
    pair = key[order] % agents**2
    return RatingData(agents, len(names), places.ravel(), pair, games, points, drawn)


def _opening_sums(
    match: Match, blocks: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the openings, and games, points and draws on each, with `a` moving first."""
    opening = match.openings if blocks is None else match.openings % blocks
    met, place = np.unique(opening, return_inverse=True)
    amounts = (
        match.times,
        match.as_first * match.times,
        (match.as_first == DRAW_SCORE) * match.times,
    )
    sums = np.stack([np.bincount(place.ravel(), each, len(met)) for each in amounts])
    return met.astype(np.int64), sums.astype(np.float64)


def _rating_basis(place: int, matches: Sequence[Match], points: float) -> RatingBasis:
    """Return the games behind the rating of an agent."""
    met = [match for match in matches if place in (match.a, match.b)]
    evidence = [match.evidence() for match in met]
    openings = np.concatenate([np.empty(0, np.int32), *(match.openings for match in evidence)])
    times = np.concatenate([np.empty(0, np.int64), *(match.times for match in evidence)])
    return RatingBasis(
        games=sum(2 * match.pairs for match in met),
        points=points,
        distinct_games=sum(match.distinct_games for match in met),
        openings=len(np.unique(openings)),
        effective_pairs=spread(openings, _center_scores(evidence), times).effective_pairs,
        forfeits=sum(match.forfeits[place == match.b] for match in met),
    )


def _center_scores(matches: Sequence[Match]) -> NDArray[np.float64]:
    """Shift the scores against each opponent to a mean of 1/2, which leaves only their errors."""
    apart = [0.5 + (match.scores - _mean_score(match)) / 2.0 for match in matches]
    return np.concatenate([np.empty(0), *apart])


def _mean_score(match: Match) -> float:
    return float((match.scores * match.times).sum()) / match.pairs


def _first_move_of_fair_games(
    group: RatingGroup,
    results: RatingData,
    fair: RatingData | None,
    names: Sequence[str],
    plan: RatingPlan,
) -> tuple[RatingGroup, int]:
    """Return a group with its first move fitted to fair games, and the number of these.

    A forfeit is lost on either side, so it shows nothing about the first move.
    """
    members = np.array(group.members)
    own = select_agents(results, members)
    kept = own if fair is None else select_agents(fair, members)
    games = int(kept.games.sum())
    if games == int(own.games.sum()):
        return group, games
    kept, seed = sort_by_content(kept, [names[member] for member in group.members])
    rated = rate(kept, replace(plan, seed=plan.seed ^ seed, anchor=None, census=False))
    several = [each for each in rated.groups if len(each.members) > 1]
    if len(several) != 1:
        unknown = no_estimate(str(FirstMove.UNKNOWN), level=plan.level)
        return replace(group, first_move=FirstMove.UNKNOWN, advantage=unknown), games
    (fitted,) = several
    return replace(group, first_move=fitted.first_move, advantage=fitted.advantage), games


def _first_move_of_pair(
    group: RatingGroup, only: Mapping[str, WinRate | None], names: Sequence[str]
) -> RatingGroup:
    """Give two agents that met only each other the interval of the first movers' score.

    Score and Elo then agree on the side with the advantage.
    """
    pair, *others = (only.get(names[member]) for member in group.members)
    if pair is None or len(others) != 1 or others[0] is None:
        return group
    if group.first_move is not FirstMove.FITTED:
        return group
    field = OpponentField(
        np.diff(group.fit.ratings[0]) * np.array([[1.0], [-1.0]]).ravel(),
        np.zeros(2), np.ones(2), spread([], []),
    )  # fmt: skip
    known = transform(pair.row.first_mover, lambda share: rating_of_score(field, 0.0, share))
    return replace(group, advantage=replace(known, value=group.advantage.value))


def _group(group: RatingGroup, games: int, names: Sequence[str], cycle: Sequence[str]) -> Group:
    members = tuple(names[member] for member in group.members)
    text = first_move_text(group, games) if len(members) > 1 and games else ""
    warning = ""
    if cycle and cycle[0] in members:  # agents in a ring are always in one group
        a, b, c = cycle
        warning = (
            f"{a} beats {b}, {b} beats {c}, {c} beats {a} (95 % for all matches together): "
            "one rating for each agent does not describe these results"
        )
    return Group(members, group.advantage, text, warning)
