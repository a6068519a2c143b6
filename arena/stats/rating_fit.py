"""The maximum likelihood fit of ratings, and which ratings are finite."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL

_STEPS = 200
_TOLERANCE = 1e-10
_LONGEST_STEP = 1.0
_NEAR_STEPS = 25
Flags = npt.NDArray[np.bool_]


class Fit(NamedTuple):
    """Ratings in Elo with mean 0, and the first mover's advantage; one row per table."""

    ratings: Floats
    advantage: Floats


def fit_ratings(
    games: Floats, points: Floats, with_first_move: bool, start: Fit | None = None
) -> Fit:
    """Fit ratings that make every agent's expected points equal its points.

    `games` and `points` are stacks of matrices first mover by second mover. The agents must be
    strongly connected, and the first-move advantage finite or left out. Bradley and Terry (1952),
    the advantage after Davidson and Beaver (1977), draws as half wins; Newton's method with steps
    short enough that the likelihood always rises.
    """
    stacks, agents = len(games), games.shape[-1]
    if start is None:
        start = Fit(np.zeros((1, agents)), np.zeros(1))
    values = np.empty((stacks, agents + 1))
    values[:, :agents] = start.ratings * NATURAL
    values[:, agents] = start.advantage * NATURAL if with_first_move else 0.0
    return _maximise(games, points, values, np.arange(stacks), with_first_move)


def refit_ratings(
    games: Floats, points: Floats, with_first_move: bool, start: Fit, near: Floats
) -> Fit:
    """Fit tables similar to that of `start`, whose games were `near`: as exact, but faster.

    All tables use the curvature at the start, which is computed once. Tables that do not converge
    soon use their own.
    """
    stacks = len(games)
    values = np.append(start.ratings[0], start.advantage[0] if with_first_move else 0.0) * NATURAL
    chance = _win_chances(values[None])
    weight = near[None] * chance * (1.0 - chance)
    inverse = np.linalg.inv(_curvature(weight, with_first_move)[0])
    values = np.tile(values, (stacks, 1))
    moving = np.arange(stacks)
    for _ in range(_NEAR_STEPS):
        missing = points[moving] - games[moving] * _win_chances(values[moving])
        step = _shorten_step(np.asarray(_gradient(missing, with_first_move) @ inverse))
        values[moving] += step
        moving = moving[np.abs(step).max(axis=1) > _TOLERANCE]
        if len(moving) == 0:
            break
    return _maximise(games, points, values, moving, with_first_move)


def _maximise(
    games: Floats, points: Floats, values: Floats, moving: Ints, with_first_move: bool
) -> Fit:
    """Maximise the likelihood of each table; only those in `moving` have not converged yet."""
    agents = games.shape[-1]
    for _ in range(_STEPS):
        if len(moving) == 0:
            break
        step = _newton_step(games[moving], points[moving], values[moving], with_first_move)
        values[moving] += step
        moving = moving[np.abs(step).max(axis=1) > _TOLERANCE]
    ratings = values[:, :agents]
    ratings = ratings - ratings.mean(axis=1, keepdims=True)
    return Fit(ratings / NATURAL, values[:, agents] / NATURAL)


def _newton_step(games: Floats, points: Floats, values: Floats, with_first_move: bool) -> Floats:
    """Return the change of ratings, the advantage last, that raises the likelihood."""
    chance = _win_chances(values)
    missing = points - games * chance
    weight = games * chance * (1.0 - chance)
    curvature = _curvature(weight, with_first_move)
    gradient = _gradient(missing, with_first_move)
    return _shorten_step(np.asarray(np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]))


def _gradient(missing: Floats, with_first_move: bool) -> Floats:
    advantage = missing.sum(axis=(1, 2)) * with_first_move
    return np.concatenate([missing.sum(axis=2) - missing.sum(axis=1), advantage[:, None]], axis=1)


def _shorten_step(step: Floats) -> Floats:
    """Shorten a step that changes the log-odds of some game by more than 1.

    Within such a change the likelihood must rise.
    """
    ratings = step[:, :-1]
    longest = ratings.max(axis=1) - ratings.min(axis=1) + np.abs(step[:, -1])
    return np.asarray(
        step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _TOLERANCE))[:, None]
    )


def _curvature(weight: Floats, with_first_move: bool) -> Floats:
    """Return the negative second derivatives of the log-likelihood, made regular.

    Adding a constant to all ratings changes nothing, so that direction gets an artificial weight.
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


def _win_chances(values: Floats) -> Floats:
    """Return the chance of each first mover against each second mover, ratings in natural units."""
    ratings, advantage = values[:, :-1], values[:, -1]
    gap = ratings[:, :, None] - ratings[:, None, :] + advantage[:, None, None]
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * gap))


class FirstMove(StrEnum):
    """The reason why results determine the value of the first move, or not."""

    FITTED = "fitted"
    ALWAYS_WINS = "first mover won every game"
    ALWAYS_LOSES = "second mover won every game"
    UNBOUNDED = "first-move advantage has no finite value"
    UNKNOWN = "first-move advantage cannot be told from strength"
    IGNORED = "first-move advantage not estimated"


def scoring_edges(games: Floats, points: Floats) -> Flags:
    """Return the matrix of agents that took points (a win or a draw) from others."""
    as_second = games - points
    return (points > 0.0) | (as_second.T > 0.0)


def reachable(edges: Flags) -> Flags:
    """Return the transitive closure of a relation in which every agent reaches itself."""
    closed = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        # Floats multiply much faster than booleans.
        steps = closed.astype(np.float32)
        further = (steps @ steps) > 0.0
        if np.array_equal(further, closed):
            return closed
        closed = further


def strong_components(reach: Flags) -> list[Ints]:
    """Return the strongly connected components of a closure; one that beats another comes first."""
    mutual = reach & reach.T
    leaders = np.unique(np.argmax(mutual, axis=1))
    # A component that beats another reaches everything that the other reaches, and more.
    order = sorted(leaders.tolist(), key=lambda leader: (-int(reach[leader].sum()), leader))
    return [np.flatnonzero(mutual[leader]) for leader in order]


def weak_component_numbers(edges: Flags) -> Ints:
    """Return the number of each agent's component: no game connects two components."""
    joined = reachable(edges | edges.T)
    leaders = np.argmax(joined, axis=1)
    return np.unique(leaders, return_inverse=True)[1].ravel().astype(np.int64)


def first_move(games: Floats, points: Floats) -> FirstMove:
    """Return whether the first-move advantage of strongly connected agents has a finite value.

    It has one if some cycle of "took points from" has more steps by first movers than by second
    movers, and some cycle has fewer.
    """
    by_first, by_second = points > 0.0, (games - points).T > 0.0
    grows = _has_positive_cycle(by_first, by_second)
    shrinks = _has_positive_cycle(by_second, by_first)
    if grows and shrinks:
        return FirstMove.FITTED
    if not grows and not shrinks:
        return FirstMove.UNKNOWN
    if grows and not by_second.any():
        return FirstMove.ALWAYS_WINS
    if shrinks and not by_first.any():
        return FirstMove.ALWAYS_LOSES
    return FirstMove.UNBOUNDED


def _has_positive_cycle(plus: Flags, minus: Flags) -> bool:
    """Return whether some cycle has more steps in `plus` than in `minus` (Bellman and Ford)."""
    if np.any(plus & plus.T):
        return True
    gain = np.where(plus, 1.0, np.where(minus, -1.0, -np.inf))
    best = np.zeros(len(gain))
    for _ in range(len(gain)):
        longer = np.maximum(best, (best[:, None] + gain).max(axis=0))
        if np.array_equal(longer, best):
            return False
        best = longer
    return True
