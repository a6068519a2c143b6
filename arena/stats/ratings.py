"""Bradley-Terry ratings with bootstrap errors."""

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.stats import RATINGS
from arena.stats.counts import Floats, Ints
from arena.stats.elo import NATURAL
from arena.stats.estimate import Estimate, EstimateKind, no_estimate, transform
from arena.stats.intervals import estimate_from_spread
from arena.stats.quantiles import normal_cdf, normal_quantile, t_quantile
from arena.stats.rating_data import RatingData, pair_matrix
from arena.stats.rating_fit import FirstMove, Fit, refit_ratings
from arena.stats.spread import Spread, spread

_NUMBERS_AT_ONCE = 1_000_000
# Below this the percentiles that ten openings need are beyond the most extreme draw.
FEWEST_DRAWS = 100
_FARTHEST = 20_000.0
_HALVINGS = 100


class BootstrapReplicates(NamedTuple):
    """Ratings fitted to weighed openings, one row per draw of weights, agents in columns."""

    ratings: Floats
    advantage: Floats


def bootstrap_ratings(
    results: RatingData, fitted: Fit, with_first_move: bool, draws: int, seed: int
) -> BootstrapReplicates:
    """Refits with the openings weighed by Exp(1) variates, the same for all pairs of agents.

    Rubin, "The Bayesian bootstrap" (1981). No weight is 0, so a draw loses no result, and every
    draw has a finite solution where the fit has one. Draw r depends on `seed` and r only.
    """
    at_once = max(1, _NUMBERS_AT_ONCE // results.agents**2)
    parts, near = [], pair_matrix(results, results.games)
    for start in range(0, draws, at_once):
        numbers = range(start, min(start + at_once, draws))
        weighed = _weighed(results, numbers, seed)
        parts.append(refit_ratings(*weighed, with_first_move, fitted, near))
    return BootstrapReplicates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _weighed(results: RatingData, numbers: range, seed: int) -> tuple[Floats, Floats]:
    """Games and points by ordered pair for each numbered draw of weights."""
    pairs = np.unique(results.pair)
    sums = np.zeros((2, len(numbers), results.agents**2))
    weights = _weights(results.openings, numbers, seed)
    if results.openings * len(pairs) <= 4 * len(results.pair):
        tables = np.zeros((2, results.openings, len(pairs)))
        tables[:, results.opening, np.searchsorted(pairs, results.pair)] = (
            results.games, results.points,
        )  # fmt: skip
        sums[:, :, pairs] = weights @ tables
    else:
        # Few pairs met on an opening: entries side by side, pair after pair.
        order = np.argsort(results.pair, kind="stable")
        opening = results.opening[order]
        starts = np.searchsorted(results.pair[order], pairs)
        for total, amounts in zip(sums, (results.games[order], results.points[order]), strict=True):
            for row, weight in enumerate(weights):
                total[row, pairs] = np.add.reduceat(weight[opening] * amounts, starts)
    shaped = sums.reshape(2, len(numbers), results.agents, results.agents)
    return shaped[0], shaped[1]


def _weights(openings: int, numbers: range, seed: int) -> Floats:
    """The weight of each opening, one row per draw."""
    rows = [np.random.default_rng((seed, number)) for number in numbers]
    return np.stack([row.standard_exponential(openings) for row in rows])


def percentile_interval(
    samples: Floats, fitted: float, openings: int, level: float
) -> tuple[float, float]:
    """Percentile interval, wider for few openings: plain percentiles of ten leave out 10 %.

    Expanded after Hesterberg, "What Teachers Should Know About the Bootstrap" (2015), section
    3.3, with sqrt((K + 1) / (K - 1)) for weights drawn as these are. Where that place is beyond
    the most extreme draw, the plain percentile is stretched from the fit instead.
    """
    plain = normal_quantile(0.5 * (1.0 + level))
    wanted = t_quantile(0.5 * (1.0 + level), openings - 1.0)
    wanted *= math.sqrt((openings + 1.0) / (openings - 1.0))
    ordered, draws = np.sort(samples), len(samples)
    place, stretch = normal_cdf(-wanted) * (draws + 1), 1.0
    if place < 1.0:
        place, stretch = normal_cdf(-plain) * (draws + 1), wanted / plain
    at = max(int(place), 1)
    low, high = float(ordered[at - 1]), float(ordered[draws - at])
    return fitted + (low - fitted) * stretch, fitted + (high - fitted) * stretch


@dataclass(frozen=True, slots=True)
class RatingPlan:
    """How to rate; `anchor` is an agent held at `anchor_elo`, None for a mean of 0.

    A `census` has every opening of its set, played by deterministic agents: no sampling
    error. 0 `draws` of openings give ratings without errors.
    """

    draws: int = 200
    seed: int = 0
    level: float = 0.95
    anchor: int | None = None
    anchor_elo: float = 0.0
    census: bool = False
    first_move: bool = True

    def __post_init__(self) -> None:
        if 0 < self.draws < FEWEST_DRAWS:
            raise ValueError(f"draws must be 0 or at least {FEWEST_DRAWS}, got {self.draws}")


@dataclass(frozen=True, slots=True)
class AgentRating:
    """One row of a rating table; `openings` are the distinct ones the agent played on."""

    agent: int
    pool: int
    rating: Estimate
    games: int
    points: float
    openings: int


@dataclass(frozen=True, slots=True)
class RatingGroup:
    """Agents that are comparable, with the ratings fitted to the games among them.

    `openings` are those on which each member met another. Pools of one `island` met, but
    only one side took points.
    """

    members: tuple[int, ...]
    island: int
    openings: tuple[int, ...]
    first_move: FirstMove
    advantage: Estimate
    fitted: Fit
    replicates: BootstrapReplicates | None = None


@dataclass(frozen=True, slots=True)
class Ratings:
    """Agents in their own order; a pool that beats another comes before it."""

    agents: tuple[AgentRating, ...]
    pools: tuple[RatingGroup, ...]
    plan: RatingPlan


def rate(
    results: RatingData, plan: RatingPlan | None = None, method: str = "bradley_terry"
) -> Ratings:
    """Rate agents by a method of `RATINGS`; groups that never met are rated separately."""
    rated: Callable[[RatingData, RatingPlan], Ratings] = importlib.import_module(
        RATINGS[method]
    ).rate
    return rated(results, plan or RatingPlan())


class OpponentField(NamedTuple):
    """The opponents of one agent: their ratings, its own seat in units of the first move, games."""

    ratings: Floats
    seats: Floats  # +1 where the agent moved first, -1 where second
    games: Floats
    spread: Spread  # of the agent's mean score on each opening


def opponent_field(
    results: RatingData, agent: int, ratings: Sequence[float | None]
) -> OpponentField | None:
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
    return OpponentField(
        np.array(known, dtype=np.float64),
        np.where(as_first, 1.0, -1.0)[met],
        games,
        _by_opening(results.opening[met], games, own),
    )


def first_mover_field(results: RatingData, ratings: Floats) -> OpponentField:
    """All first movers as one agent of rating 0: what it is rated is worth the first move."""
    first, second = results.pair // results.agents, results.pair % results.agents
    return OpponentField(
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


def rating_from_score(field: OpponentField, advantage: float, level: float) -> Estimate:
    """The rating at which that score is expected against the field, with the ends of its interval.

    If the mean is m, all K openings are won with a chance of m^K at most, whatever the opponents.
    """
    score = estimate_from_spread(field.spread, level)
    if score.kind is EstimateKind.NONE:
        return no_estimate(score.reason, level=level)
    return transform(score, lambda share: rating_at(field, advantage, share))


def rating_at(field: OpponentField, advantage: float, share: float) -> float | None:
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
