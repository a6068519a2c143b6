"""Maximum-likelihood ratings of one pool of agents."""

from typing import NamedTuple

import numpy as np

from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL

_STEPS = 200
_CLOSE = 1e-10
_LONGEST_STEP = 1.0
_NEAR_STEPS = 25


class Fit(NamedTuple):
    """Ratings in Elo with mean 0, and the first mover's advantage; one row per fitted table."""

    ratings: Floats
    advantage: Floats


def fit(games: Floats, points: Floats, with_first_move: bool, start: Fit | None = None) -> Fit:
    """Ratings that make every agent's expected points equal its points.

    `games` and `points` are stacks of matrices first mover by second mover; the pool must be
    strongly connected, and the first-move advantage finite or left out. Bradley and Terry
    (1952), the advantage after Davidson and Beaver (1977), draws as half wins; by Newton's
    method with steps short enough to climb always.
    """
    stacks, agents = len(games), games.shape[-1]
    if start is None:
        start = Fit(np.zeros((1, agents)), np.zeros(1))
    values = np.empty((stacks, agents + 1))
    values[:, :agents] = start.ratings * NATURAL
    values[:, agents] = start.advantage * NATURAL if with_first_move else 0.0
    return _climbed(games, points, values, np.arange(stacks), with_first_move)


def refit(games: Floats, points: Floats, with_first_move: bool, start: Fit, near: Floats) -> Fit:
    """The same for tables like that of `start`, whose games were `near`: as exact, but faster.

    All tables climb by the curvature at the start, which is worked out once; where that does not
    lead to the top soon, by their own.
    """
    stacks = len(games)
    values = np.append(start.ratings[0], start.advantage[0] if with_first_move else 0.0) * NATURAL
    chance = _chances(values[None])
    weight = near[None] * chance * (1.0 - chance)
    inverse = np.linalg.inv(_curvature(weight, with_first_move)[0])
    values = np.tile(values, (stacks, 1))
    moving = np.arange(stacks)
    for _ in range(_NEAR_STEPS):
        missing = points[moving] - games[moving] * _chances(values[moving])
        step = _held(np.asarray(_gradient(missing, with_first_move) @ inverse))
        values[moving] += step
        moving = moving[np.abs(step).max(axis=1) > _CLOSE]
        if len(moving) == 0:
            break
    return _climbed(games, points, values, moving, with_first_move)


def _climbed(
    games: Floats, points: Floats, values: Floats, moving: Ints, with_first_move: bool
) -> Fit:
    """The tops of the tables' likelihoods; only those in `moving` are not there yet."""
    agents = games.shape[-1]
    for _ in range(_STEPS):
        if len(moving) == 0:
            break
        step = _newton_step(games[moving], points[moving], values[moving], with_first_move)
        values[moving] += step
        moving = moving[np.abs(step).max(axis=1) > _CLOSE]
    ratings = values[:, :agents]
    ratings = ratings - ratings.mean(axis=1, keepdims=True)
    return Fit(ratings / NATURAL, values[:, agents] / NATURAL)


def _newton_step(games: Floats, points: Floats, values: Floats, with_first_move: bool) -> Floats:
    """Change of ratings, the advantage last, that climbs the likelihood."""
    chance = _chances(values)
    missing = points - games * chance
    weight = games * chance * (1.0 - chance)
    curvature = _curvature(weight, with_first_move)
    gradient = _gradient(missing, with_first_move)
    return _held(np.asarray(np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]))


def _gradient(missing: Floats, with_first_move: bool) -> Floats:
    """Change of the log-likelihood with every rating, the advantage last."""
    advantage = missing.sum(axis=(1, 2)) * with_first_move
    return np.concatenate([missing.sum(axis=2) - missing.sum(axis=1), advantage[:, None]], axis=1)


def _held(step: Floats) -> Floats:
    """The step, shortened where it changes the log-odds of some game by more than 1.

    Within such a change the likelihood must rise.
    """
    ratings = step[:, :-1]
    longest = ratings.max(axis=1) - ratings.min(axis=1) + np.abs(step[:, -1])
    return np.asarray(step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _CLOSE))[:, None])


def _curvature(weight: Floats, with_first_move: bool) -> Floats:
    """Negative second derivatives of the log-likelihood, made regular.

    Adding the same to all ratings changes nothing: that direction gets a weight of its own.
    """
    agents = weight.shape[-1]
    both = weight + weight.transpose(0, 2, 1)
    given, taken = weight.sum(axis=2), weight.sum(axis=1)
    level = both.sum(axis=2).mean(axis=1)
    curvature = np.empty((len(weight), agents + 1, agents + 1))
    curvature[:, :agents, :agents] = level[:, None, None] / agents - both
    diagonal = np.arange(agents)
    curvature[:, diagonal, diagonal] += given + taken
    cross = given - taken if with_first_move else np.zeros_like(given)
    curvature[:, :agents, agents] = cross
    curvature[:, agents, :agents] = cross
    curvature[:, agents, agents] = given.sum(axis=1) if with_first_move else 1.0
    return curvature


def _chances(values: Floats) -> Floats:
    """Chance of each first mover against each second mover, ratings in natural units."""
    ratings, advantage = values[:, :-1], values[:, -1]
    gap = ratings[:, :, None] - ratings[:, None, :] + advantage[:, None, None]
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * gap))
