"""Ratings by maximum likelihood after Bradley and Terry, one pool of agents at a time."""

from dataclasses import replace

import numpy as np

from arena.stats.counts import Floats, Ints
from arena.stats.elo import FEW_OPENINGS
from arena.stats.estimate import Estimate, EstimateKind, nothing
from arena.stats.rating_data import Results, among, openings_by_agent, table
from arena.stats.rating_fit import (
    FirstMove,
    Fit,
    beats,
    components,
    first_move,
    fit,
    islands,
    reachable,
)
from arena.stats.ratings import (
    AgentRating,
    Pool,
    RatingPlan,
    Ratings,
    field_estimate,
    field_of,
    first_movers,
    percentile_ends,
    replicate,
)

ALONE = "no finite rating: compare the groups"
ANCHOR = "anchor"
EXACT = "exact for this opening set"
ALL_POINTS = "won every game against the group that it is compared with"
NO_POINTS = "lost every game against the group that it is compared with"
ONE_OPENING = "1 opening: no bound"
NOT_ASKED = "errors not asked for"
NOT_COMPARABLE = "not comparable"


def rate(results: Results, plan: RatingPlan) -> Ratings:
    """Rate agents by maximum likelihood; pools that cannot be compared are rated separately."""
    if plan.anchor is not None and not 0 <= plan.anchor < results.agents:
        raise ValueError(f"anchor must be an agent from 0 to {results.agents - 1}")
    games, points = table(results, results.games), table(results, results.points)
    played = games.sum(axis=0) + games.sum(axis=1)
    earned = points.sum(axis=1) + (games - points).sum(axis=0)
    openings = openings_by_agent(results)
    edges = beats(games, points)
    island = islands(edges)
    members = components(reachable(edges))
    owns = [among(results, each) for each in members]
    pools = [
        _pool(own, each, int(island[each[0]]), plan)
        for own, each in zip(owns, members, strict=True)
    ]
    rows = []
    for number, pool in enumerate(pools):
        for place, agent in enumerate(pool.members):
            if len(pool.members) == 1:
                rating = _alone(results, pools, agent, plan)
            else:
                rating = _agent_rating(owns[number], pool, place, plan)
            amounts = int(played[agent]), float(earned[agent]), int(openings[agent])
            rows.append(AgentRating(agent, number, rating, *amounts))
    return Ratings(tuple(sorted(rows, key=lambda row: row.agent)), tuple(pools), plan)


def _pool(own: Results, members: Ints, island: int, plan: RatingPlan) -> Pool:
    named = tuple(members.tolist())
    if len(named) == 1:
        alone = Fit(np.zeros((1, 1)), np.zeros(1))
        return Pool(named, island, (0,), FirstMove.UNKNOWN, nothing(ALONE), alone, None)
    games, points = table(own, own.games), table(own, own.points)
    found = first_move(games, points) if plan.first_move else FirstMove.IGNORED
    fitted = fit(games[None], points[None], found is FirstMove.FITTED)
    draws = None
    if plan.draws and not plan.census and own.openings >= FEW_OPENINGS:
        draws = replicate(own, fitted, found is FirstMove.FITTED, plan.draws, plan.seed)
    openings = tuple(openings_by_agent(own).tolist())
    advantage = _advantage(own, fitted, found, None if draws is None else draws.advantage, plan)
    return Pool(named, island, openings, found, advantage, fitted, draws)


def _advantage(
    own: Results, fitted: Fit, found: FirstMove, samples: Floats | None, plan: RatingPlan
) -> Estimate:
    """What the first move is worth; where its score leaves no spread, what that bounds."""

    def by_score() -> Estimate:
        return field_estimate(first_movers(own, fitted.ratings[0]), 0.0, plan.level)

    if found in (FirstMove.ALWAYS_WINS, FirstMove.ALWAYS_LOSES):
        return by_score()
    if found is not FirstMove.FITTED:
        return nothing(str(found), level=plan.level)
    value = float(fitted.advantage[0])
    if samples is not None and np.ptp(samples) < 1e-6:
        return replace(by_score(), value=value)
    return _with_errors(value, samples, len(np.unique(own.opening)), plan)


def _alone(results: Results, pools: list[Pool], agent: int, plan: RatingPlan) -> Estimate:
    """The bound of an agent with all or no points, on the scale of the one group that it met."""
    ratings: list[float | None] = [None] * results.agents
    met = _opponents(results, agent)
    own = [pool for pool in pools if met & set(pool.members)]
    if len(own) != 1:
        return nothing(ALONE, level=plan.level)
    shift = 0.0
    fitted = own[0].fitted.ratings[0]
    if plan.anchor in own[0].members:
        shift = plan.anchor_elo - float(fitted[own[0].members.index(plan.anchor)])
    for member, rating in zip(own[0].members, fitted.tolist(), strict=True):
        ratings[member] = rating + shift
    field = field_of(results, agent, ratings)
    if field is None or field.spread.mean not in (0.0, 1.0):
        return nothing(ALONE, level=plan.level)
    if field.spread.openings == 1:
        return nothing(ONE_OPENING, level=plan.level)
    bound = field_estimate(field, float(own[0].fitted.advantage[0]), plan.level)
    reason = ALL_POINTS if field.spread.mean == 1.0 else NO_POINTS
    return Estimate(None, bound.low, bound.high, plan.level, EstimateKind.FIXED, reason)


def _opponents(results: Results, agent: int) -> set[int]:
    first, second = results.pair // results.agents, results.pair % results.agents
    return {*second[first == agent].tolist(), *first[second == agent].tolist()}


def _agent_rating(own: Results, pool: Pool, place: int, plan: RatingPlan) -> Estimate:
    """Rating of one member of a pool, from the zero point that the plan asks for."""
    if pool.members[place] == plan.anchor:
        return nothing(ANCHOR, plan.anchor_elo, plan.level)
    fitted, shift = pool.fitted.ratings[0], 0.0
    value, samples = float(fitted[place]), None
    drawn = None if pool.replicates is None else pool.replicates.ratings
    if drawn is not None:
        samples = drawn[:, place]
    if plan.anchor in pool.members:
        anchor = pool.members.index(plan.anchor)
        shift = plan.anchor_elo - float(fitted[anchor])
        if drawn is not None:
            samples = drawn[:, place] - drawn[:, anchor] + plan.anchor_elo
    rating = _with_errors(value + shift, samples, pool.openings[place], plan)
    if samples is None or rating.kind is not EstimateKind.FIXED or np.ptp(samples) >= 1e-6:
        return rating
    # Every opening says the same of it: what was not seen is bounded by its score.
    field = field_of(own, place, (fitted + shift).tolist())
    assert field is not None  # its own pool has ratings
    bound = field_estimate(field, float(pool.fitted.advantage[0]), plan.level)
    return replace(bound, value=value + shift)


def _with_errors(value: float, samples: Floats | None, openings: int, plan: RatingPlan) -> Estimate:
    """A fitted number with its bootstrap interval, or the reason why it has none."""
    if plan.census:
        return Estimate(value, None, None, plan.level, EstimateKind.CENSUS, EXACT)
    if openings < FEW_OPENINGS:
        counted = "1 opening" if openings == 1 else f"{openings} openings"
        reason = f"{counted}: no interval below {FEW_OPENINGS}"
        return nothing(reason, value, plan.level)
    if samples is None:
        return nothing(NOT_ASKED, value, plan.level)
    low, high = percentile_ends(samples, value, openings, plan.level)
    # The draws of a lopsided pool may all lie on one side of the fit.
    low, high = min(low, value), max(high, value)
    return Estimate(value, low, high, plan.level, EstimateKind.FIXED)


def difference(ratings: Ratings, one: int, other: int) -> Estimate:
    """Rating of `one` less rating of `other`, with the error of the difference itself."""
    number = ratings.agents[one].pool
    pool = ratings.pools[number]
    if number != ratings.agents[other].pool:
        return nothing(NOT_COMPARABLE, level=ratings.plan.level)
    places = pool.members.index(one), pool.members.index(other)
    fitted = pool.fitted.ratings[0]
    value = float(fitted[places[0]] - fitted[places[1]])
    samples = None
    if pool.replicates is not None:
        one_by_one = pool.replicates.ratings
        samples = one_by_one[:, places[0]] - one_by_one[:, places[1]]
    openings = min(pool.openings[place] for place in places)
    return _with_errors(value, samples, openings, ratings.plan)
