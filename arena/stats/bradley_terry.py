"""Ratings by maximum likelihood after Bradley and Terry, one pool of agents at a time."""

from dataclasses import replace

import numpy as np

from arena.stats.counts import Floats, Ints
from arena.stats.elo import FEW_OPENINGS
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.rating_data import RatingData, openings_by_agent, pair_matrix, select_agents
from arena.stats.rating_fit import (
    FirstMove,
    Fit,
    components,
    disconnected_parts,
    first_move,
    fit_ratings,
    reachable,
    took_points,
)
from arena.stats.ratings import (
    AgentRating,
    RatingGroup,
    RatingPlan,
    Ratings,
    bootstrap_ratings,
    first_mover_field,
    opponent_field,
    percentile_interval,
    rating_from_score,
)

ALONE = "no finite rating: compare the groups"
ANCHOR = "anchor"
EXACT = "exact for this opening set"
ALL_POINTS = "won every game against the group that it is compared with"
NO_POINTS = "lost every game against the group that it is compared with"
ONE_OPENING = "1 opening: no bound"
NOT_ASKED = "errors not asked for"
NOT_COMPARABLE = "not comparable"


def rate(results: RatingData, plan: RatingPlan) -> Ratings:
    """Rate agents by maximum likelihood; pools that cannot be compared are rated separately."""
    if plan.anchor is not None and not 0 <= plan.anchor < results.agents:
        raise ValueError(f"anchor must be an agent from 0 to {results.agents - 1}")
    games, points = pair_matrix(results, results.games), pair_matrix(results, results.points)
    played = games.sum(axis=0) + games.sum(axis=1)
    earned = points.sum(axis=1) + (games - points).sum(axis=0)
    openings = openings_by_agent(results)
    edges = took_points(games, points)
    island = disconnected_parts(edges)
    members = components(reachable(edges))
    owns = [select_agents(results, each) for each in members]
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


def _pool(own: RatingData, members: Ints, island: int, plan: RatingPlan) -> RatingGroup:
    named = tuple(members.tolist())
    if len(named) == 1:
        alone = Fit(np.zeros((1, 1)), np.zeros(1))
        return RatingGroup(named, island, (0,), FirstMove.UNKNOWN, no_estimate(ALONE), alone, None)
    games, points = pair_matrix(own, own.games), pair_matrix(own, own.points)
    found = first_move(games, points) if plan.first_move else FirstMove.IGNORED
    fitted = fit_ratings(games[None], points[None], found is FirstMove.FITTED)
    draws = None
    if plan.draws and not plan.census and own.openings >= FEW_OPENINGS:
        draws = bootstrap_ratings(own, fitted, found is FirstMove.FITTED, plan.draws, plan.seed)
    openings = tuple(openings_by_agent(own).tolist())
    advantage = _advantage(own, fitted, found, None if draws is None else draws.advantage, plan)
    return RatingGroup(named, island, openings, found, advantage, fitted, draws)


def _advantage(
    own: RatingData, fitted: Fit, found: FirstMove, samples: Floats | None, plan: RatingPlan
) -> Estimate:
    """What the first move is worth; where its score leaves no spread, what that bounds."""

    def by_score() -> Estimate:
        return rating_from_score(first_mover_field(own, fitted.ratings[0]), 0.0, plan.level)

    if found in (FirstMove.ALWAYS_WINS, FirstMove.ALWAYS_LOSES):
        return by_score()
    if found is not FirstMove.FITTED:
        return no_estimate(str(found), level=plan.level)
    value = float(fitted.advantage[0])
    if samples is not None and np.ptp(samples) < 1e-6:
        return replace(by_score(), value=value)
    return _with_errors(value, samples, len(np.unique(own.opening)), plan)


def _alone(results: RatingData, pools: list[RatingGroup], agent: int, plan: RatingPlan) -> Estimate:
    """The bound of an agent with all or no points, on the scale of the one group that it met."""
    ratings: list[float | None] = [None] * results.agents
    met = _opponents(results, agent)
    own = [pool for pool in pools if met & set(pool.members)]
    if len(own) != 1:
        return no_estimate(ALONE, level=plan.level)
    shift = 0.0
    fitted = own[0].fitted.ratings[0]
    if plan.anchor in own[0].members:
        shift = plan.anchor_elo - float(fitted[own[0].members.index(plan.anchor)])
    for member, rating in zip(own[0].members, fitted.tolist(), strict=True):
        ratings[member] = rating + shift
    field = opponent_field(results, agent, ratings)
    if field is None or field.spread.mean not in (0.0, 1.0):
        return no_estimate(ALONE, level=plan.level)
    if field.spread.openings == 1:
        return no_estimate(ONE_OPENING, level=plan.level)
    bound = rating_from_score(field, float(own[0].fitted.advantage[0]), plan.level)
    reason = ALL_POINTS if field.spread.mean == 1.0 else NO_POINTS
    return Estimate(None, bound.low, bound.high, plan.level, EstimateKind.FIXED, reason)


def _opponents(results: RatingData, agent: int) -> set[int]:
    first, second = results.pair // results.agents, results.pair % results.agents
    return {*second[first == agent].tolist(), *first[second == agent].tolist()}


def _agent_rating(own: RatingData, pool: RatingGroup, place: int, plan: RatingPlan) -> Estimate:
    """Rating of one member of a pool, from the zero point that the plan asks for."""
    if pool.members[place] == plan.anchor:
        return no_estimate(ANCHOR, plan.anchor_elo, plan.level)
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
    field = opponent_field(own, place, (fitted + shift).tolist())
    assert field is not None  # its own pool has ratings
    bound = rating_from_score(field, float(pool.fitted.advantage[0]), plan.level)
    return replace(bound, value=value + shift)


def _with_errors(value: float, samples: Floats | None, openings: int, plan: RatingPlan) -> Estimate:
    """A fitted number with its bootstrap interval, or the reason why it has none."""
    if plan.census:
        return Estimate(value, None, None, plan.level, EstimateKind.CENSUS, EXACT)
    if openings < FEW_OPENINGS:
        counted = "1 opening" if openings == 1 else f"{openings} openings"
        reason = f"{counted}: no interval below {FEW_OPENINGS}"
        return no_estimate(reason, value, plan.level)
    if samples is None:
        return no_estimate(NOT_ASKED, value, plan.level)
    low, high = percentile_interval(samples, value, openings, plan.level)
    # The draws of a lopsided pool may all lie on one side of the fit.
    low, high = min(low, value), max(high, value)
    return Estimate(value, low, high, plan.level, EstimateKind.FIXED)


def rating_difference(ratings: Ratings, one: int, other: int) -> Estimate:
    """Rating of `one` less rating of `other`, with the error of the difference itself."""
    number = ratings.agents[one].pool
    pool = ratings.pools[number]
    if number != ratings.agents[other].pool:
        return no_estimate(NOT_COMPARABLE, level=ratings.plan.level)
    places = pool.members.index(one), pool.members.index(other)
    fitted = pool.fitted.ratings[0]
    value = float(fitted[places[0]] - fitted[places[1]])
    samples = None
    if pool.replicates is not None:
        one_by_one = pool.replicates.ratings
        samples = one_by_one[:, places[0]] - one_by_one[:, places[1]]
    openings = min(pool.openings[place] for place in places)
    return _with_errors(value, samples, openings, ratings.plan)
