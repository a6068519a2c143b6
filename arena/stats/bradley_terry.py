"""Ratings by maximum likelihood after Bradley and Terry, one pool of agents at a time."""

import numpy as np

from arena.stats.bootstrap import (
    Samples,
    advantage_samples,
    difference_samples,
    percentile_ends,
    rating_samples,
    replicate,
)
from arena.stats.connected import FirstMove, beats, components, first_move, islands, reachable
from arena.stats.counts import Ints
from arena.stats.estimate import Estimate, EstimateKind, nothing
from arena.stats.intervals import FEW_OPENINGS
from arena.stats.rating_fit import Fit, fit
from arena.stats.ratings import AgentRating, Pool, RatingPlan, Ratings
from arena.stats.results import Results, among, openings_by_agent, table

ALONE = "no finite rating: compare the groups"
ANCHOR = "anchor"
EXACT = "exact for this opening set"
NO_SPREAD = "all draws of openings alike"
NOT_ASKED = "errors not asked for"
NOT_COMPARABLE = "not comparable"


def rate(results: Results, plan: RatingPlan) -> Ratings:
    """Rate agents by maximum likelihood; pools that cannot be compared are rated apart."""
    if plan.anchor is not None and not 0 <= plan.anchor < results.agents:
        raise ValueError(f"anchor must be an agent from 0 to {results.agents - 1}")
    games, points = table(results, results.games), table(results, results.points)
    played = games.sum(axis=0) + games.sum(axis=1)
    earned = points.sum(axis=1) + (games - points).sum(axis=0)
    openings = openings_by_agent(results)
    edges = beats(games, points)
    island = islands(edges)
    pools, rows = [], []
    for number, members in enumerate(components(reachable(edges))):
        pool = _pool(among(results, members), members, int(island[members[0]]), plan)
        pools.append(pool)
        for place, agent in enumerate(pool.members):
            rating = _agent_rating(pool, place, plan)
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
    advantage = nothing(str(found), level=plan.level)
    if found is FirstMove.FITTED:
        samples = None if draws is None else advantage_samples(draws)
        value, met = float(fitted.advantage[0]), len(np.unique(own.opening))
        advantage = _with_errors(value, samples, met, plan)
    openings = tuple(openings_by_agent(own).tolist())
    return Pool(named, island, openings, found, advantage, fitted, draws)


def _agent_rating(pool: Pool, place: int, plan: RatingPlan) -> Estimate:
    """Rating of one member of a pool, by the zero point that the plan asks for."""
    if pool.members[place] == plan.anchor:
        return nothing(ANCHOR, plan.anchor_elo, plan.level)
    if len(pool.members) == 1:
        return nothing(ALONE, level=plan.level)
    fitted, draws = pool.fitted.ratings[0], pool.replicates
    if plan.anchor not in pool.members:
        samples = None if draws is None else rating_samples(draws, place)
        return _with_errors(float(fitted[place]), samples, pool.openings[place], plan)
    anchor, shift = pool.members.index(plan.anchor), plan.anchor_elo
    value = float(fitted[place] - fitted[anchor]) + shift
    samples = None
    if draws is not None:
        low, high = difference_samples(draws, place, anchor)
        samples = Samples(low + shift, high + shift)
    return _with_errors(value, samples, pool.openings[place], plan)


def _with_errors(
    value: float, samples: Samples | None, openings: int, plan: RatingPlan
) -> Estimate:
    """A fitted number with its bootstrap interval, or the reason why it has none."""
    if plan.census:
        return Estimate(value, None, None, plan.level, EstimateKind.CENSUS, EXACT)
    if openings < FEW_OPENINGS:
        counted = "1 opening" if openings == 1 else f"{openings} openings"
        reason = f"{counted}: no interval below {FEW_OPENINGS}"
        return nothing(reason, value, plan.level)
    if samples is None:
        return nothing(NOT_ASKED, value, plan.level)
    if np.isfinite(samples.low).all() and np.ptp(samples.low) < 1e-6:
        return nothing(NO_SPREAD, value, plan.level)
    low, high = percentile_ends(samples, openings, plan.level)
    # The draws of a lopsided pool may all lie on one side of the fit.
    low = None if low is None else min(low, value)
    high = None if high is None else max(high, value)
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
        samples = difference_samples(pool.replicates, *places)
    openings = min(pool.openings[place] for place in places)
    return _with_errors(value, samples, openings, ratings.plan)
