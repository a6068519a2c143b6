"""What the score of one agent against its whole field says where the fit leaves an end open."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.stats.clusters import Spread, spread
from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL
from arena.stats.estimate import Estimate, EstimateKind, nothing, transformed
from arena.stats.intervals import estimate_from_spread
from arena.stats.results import Results

_FARTHEST = 20_000.0
_HALVINGS = 100


class Field(NamedTuple):
    """The opponents of one agent: their ratings, its own seat in units of the first move, games."""

    ratings: Floats
    seats: Floats  # +1 where the agent moved first, -1 where second
    games: Floats
    spread: Spread  # of the agent's mean score on each opening


def field_of(results: Results, agent: int, ratings: Sequence[float | None]) -> Field | None:
    """The field of an agent; None if some opponent has no rating on one common scale."""
    first, second = results.pair // results.agents, results.pair % results.agents
    as_first, as_second = first == agent, second == agent
    met = as_first | as_second
    opponents = np.where(as_first, second, first)[met]
    known = [ratings[opponent] for opponent in opponents.tolist()]
    if not known or any(rating is None for rating in known):
        return None
    games = results.games[met]
    own = np.where(as_first[met], results.points[met], games - results.points[met])
    return Field(
        np.array(known, dtype=np.float64),
        np.where(as_first, 1.0, -1.0)[met],
        games,
        _by_opening(results.opening[met], games, own),
    )


def first_movers(results: Results, ratings: Floats) -> Field:
    """All first movers as one agent of rating 0: what it is rated is worth the first move."""
    first, second = results.pair // results.agents, results.pair % results.agents
    return Field(
        ratings[second] - ratings[first],
        np.zeros(len(first)),
        results.games,
        _by_opening(results.opening, results.games, results.points),
    )


def _by_opening(openings: Ints, games: Floats, points: Floats) -> Spread:
    names, place = np.unique(openings, return_inverse=True)
    place = place.ravel()
    means = np.bincount(place, points) / np.bincount(place, games)
    return spread(names, np.clip(means, 0.0, 1.0))


def field_estimate(field: Field, advantage: float, level: float) -> Estimate:
    """The rating at which that score is expected against the field, with the ends of its interval.

    If the mean is m, all K openings are won with a chance of m^K at most, whatever the opponents.
    """
    score = estimate_from_spread(field.spread, level)
    if score.kind is EstimateKind.NONE:
        return nothing(score.reason, level=level)
    return transformed(score, lambda share: rating_at(field, advantage, share))


def rating_at(field: Field, advantage: float, share: float) -> float | None:
    """The rating that is expected to take this share of the points; None for all or none."""
    if not 0.0 < share < 1.0:
        return None
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        gaps = middle - field.ratings + advantage * field.seats
        chance = 0.5 + 0.5 * np.tanh(0.5 * NATURAL * gaps)
        below = float((field.games * chance).sum() / field.games.sum()) < share
        low, high = (middle, high) if below else (low, middle)
    return 0.5 * (low + high)
