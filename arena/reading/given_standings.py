"""The standings of games from outside, as those of a run are made."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.concluding.points_table import GameTally, official_places
from arena.concluding.standings import (
    BLOCKS,
    RatingBasis,
    Standings,
    in_official_order,
    ranked_agents,
)
from arena.concluding.win_rates import WinRate
from arena.reading.foreign_games import GivenScale
from arena.stats.clusters import spread
from arena.stats.matchup import Matchup, from_other_side, matchup, matchup_of_games
from arena.stats.ratings import RatingPlan
from arena.stats.results import gather
from arena.stats.words import matchup_text

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Columns(NamedTuple):
    """The games of a scale as arrays; `first` are the first movers, as far as they are known."""

    first: Ints
    second: Ints
    scores: Floats
    openings: Ints
    pairing: Ints  # equal numbers are one pairing; -1 stands alone
    faults: Ints


def given_standings(scale: GivenScale, plan: RatingPlan, method: str) -> Standings:
    """Rate the agents of one scale by a method."""
    if -1 in scale.movers:
        plan = replace(plan, first_move=False)
    games = columns_of(scale)
    agents = len(scale.names)
    results = gather(games.first, games.second, games.scores, games.openings % BLOCKS, agents)
    rates = [rate for pair in _met(games) for rate in _rates(scale, games, *pair)]
    played = [_played(games, agent) for agent in range(agents)]
    clean = np.concatenate([side[games.faults == 0] for side in (games.first, games.second)])
    faulty = [name for place, name in enumerate(scale.names) if not np.any(clean == place)]
    found = ranked_agents(results, scale.names, rates, played, plan, faulty=faulty, method=method)
    own = {name: _tally(games, agent) for agent, name in enumerate(scale.names)}
    ranked = [row.agent for row in found.agents]
    openings = len(np.unique(games.openings))
    return in_official_order(found, official_places(own, ranked, openings=openings))


def _tally(games: Columns, agent: int) -> GameTally:
    """The games of an agent; files do not tell the final scores."""
    scores = np.concatenate(
        [games.scores[games.first == agent], 1.0 - games.scores[games.second == agent]]
    )
    won, drawn, lost = (int((scores == points).sum()) for points in (1.0, 0.5, 0.0))
    return GameTally(won, drawn, lost)


def columns_of(scale: GivenScale) -> Columns:
    """Return the games of a scale, with the first mover as `first`."""
    numbers: dict[object, int] = {}
    pairing = [
        -1 if each is None else numbers.setdefault(each, len(numbers)) for each in scale.pairings
    ]
    first, second, openings, numbered, faults = (
        np.array(column, np.int64)
        for column in (scale.first, scale.second, scale.openings, pairing, scale.faults)
    )
    scores = np.array(scale.scores, np.float64)
    turned = np.array(scale.movers, np.int64) == 1
    return Columns(
        first=np.where(turned, second, first),
        second=np.where(turned, first, second),
        scores=np.where(turned, 1.0 - scores, scores),
        openings=openings,
        pairing=numbered,
        faults=np.where(turned, -faults, faults),
    )


def _met(games: Columns) -> Iterator[tuple[int, int]]:
    """The pairs of agents that met, the lower number first."""
    both = np.stack([np.minimum(games.first, games.second), np.maximum(games.first, games.second)])
    yield from np.unique(both, axis=1).T.tolist()


def _rates(scale: GivenScale, games: Columns, one: int, other: int) -> tuple[WinRate, WinRate]:
    """One pair of agents from both sides."""
    as_first = np.flatnonzero((games.first == one) & (games.second == other))
    as_second = np.flatnonzero((games.first == other) & (games.second == one))
    row = _matchup(games, as_first, as_second)
    lost = np.concatenate([games.faults[as_first], -games.faults[as_second]])
    own, others = int((lost == 1).sum()), int((lost == -1).sum())
    counted = len(as_first) + len(as_second)
    mirrored = from_other_side(row)
    a, b = scale.names[one], scale.names[other]
    return (
        WinRate(a, b, counted, own, others, row, matchup_text(row)),
        WinRate(b, a, counted, others, own, mirrored, matchup_text(mirrored)),
    )


def _matchup(games: Columns, as_first: Ints, as_second: Ints) -> Matchup:
    """The pair's estimate: of pairings where all games make some, else of single games."""
    for order in (games.pairing, games.openings):
        one, other = (
            rows[np.argsort(order[rows], kind="stable")] for rows in (as_first, as_second)
        )
        whole = len(one) == len(other) and len(one) > 0 and order[one].min() >= 0
        alike = whole and np.array_equal(order[one], order[other])
        if alike and np.array_equal(games.openings[one], games.openings[other]):
            # In the order of the games, as a run has them.
            again = np.argsort(np.minimum(one, other), kind="stable")
            one, other = one[again], other[again]
            scores = games.scores[one], 1.0 - games.scores[other]
            return matchup(games.openings[one], *scores)
    rows = np.concatenate([as_first, as_second])
    scored = np.concatenate([games.scores[as_first], 1.0 - games.scores[as_second]])
    return matchup_of_games(games.openings[rows], scored)


def _played(games: Columns, agent: int) -> RatingBasis:
    """What an agent's rating rests on."""
    as_first, as_second = games.first == agent, games.second == agent
    rows = np.flatnonzero(as_first | as_second)
    scores = np.where(as_first[rows], games.scores[rows], 1.0 - games.scores[rows])
    opponents = np.where(as_first[rows], games.second[rows], games.first[rows])
    apart = np.zeros(len(rows))
    # As if all opponents were as strong: the law of errors is left.
    for opponent in np.unique(opponents):
        met = opponents == opponent
        apart[met] = 0.5 + (scores[met] - scores[met].mean()) / 2.0
    # Both games of a pairing are one observation.
    alone = games.pairing[rows] < 0
    unit = np.where(alone, -1 - np.arange(len(rows)), games.pairing[rows])
    _, place, observed = np.unique(unit, return_index=True, return_inverse=True)
    observed = observed.ravel()
    mean = np.bincount(observed, apart) / np.bincount(observed)
    effective = spread(games.openings[rows][place], mean).effective_pairings
    lost = np.where(as_first[rows], games.faults[rows], -games.faults[rows]) == 1
    openings = len(np.unique(games.openings[rows]))
    points = float(scores.sum())
    return RatingBasis(len(rows), points, len(rows), openings, effective, int(lost.sum()))
