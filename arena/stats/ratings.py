"""Ratings as every method returns them."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from arena.stats import RATINGS
from arena.stats.bootstrap import Replicates
from arena.stats.connected import FirstMove
from arena.stats.estimate import Estimate
from arena.stats.rating_fit import Fit
from arena.stats.results import Results

# Below this the percentiles that ten openings need are beyond the most extreme draw.
FEWEST_DRAWS = 100


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
class Pool:
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
    replicates: Replicates | None = None


@dataclass(frozen=True, slots=True)
class Ratings:
    """Agents in their own order; a pool that beats another comes before it."""

    agents: tuple[AgentRating, ...]
    pools: tuple[Pool, ...]
    plan: RatingPlan


def rate(
    results: Results, plan: RatingPlan | None = None, method: str = "bradley_terry"
) -> Ratings:
    """Rate agents by a method of `RATINGS`; groups that never met are rated separately."""
    rated: Callable[[Results, RatingPlan], Ratings] = importlib.import_module(RATINGS[method]).rate
    return rated(results, plan or RatingPlan())
