"""Results of many agents, summed by opening and pair of agents."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from arena.stats.counts import Floats, Ints

_OPENINGS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class RatingData:
    """Sums of games: one entry per opening, first mover and second mover.

    `pair` is first mover * agents + second mover. `points` are the first mover's; `drawn` counts
    the draws among `games`. Entries are sorted, so they do not depend on the order of the games.
    """

    agents: int
    openings: int
    opening: Ints
    pair: Ints
    games: Floats
    points: Floats
    drawn: Floats


def rating_data(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    scores: npt.ArrayLike,
    openings: npt.ArrayLike,
    agents: int,
) -> RatingData:
    """Sum games given by first mover, second mover (0 to agents - 1) and score of the first.

    Games with equal opening numbers are not independent. Without openings, number the games.
    """
    movers = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    points = np.asarray(scores, dtype=np.float64)
    _check_games(movers, points, agents)
    names, opening = np.unique(np.asarray(openings), return_inverse=True)
    key = opening.ravel() * agents**2 + movers[0] * agents + movers[1]
    keys, entry = np.unique(key, return_inverse=True)
    entry = entry.ravel()
    return RatingData(
        agents=agents,
        openings=len(names),
        opening=keys // agents**2,
        pair=keys % agents**2,
        games=_sums(entry, np.ones(len(entry)), len(keys)),
        points=_sums(entry, points, len(keys)),
        drawn=_sums(entry, points == 0.5, len(keys)),
    )


def sort_by_content(results: RatingData, names: Sequence[str]) -> tuple[RatingData, int]:
    """Number the openings by the games on them; also return a seed that depends on the games.

    The result does not depend on the order of games, openings and agents, so one set of games has
    the same bootstrap draws whatever file it comes from. Openings of equal content are
    exchangeable.
    """
    place = {name: at for at, name in enumerate(sorted(names))}
    rank = np.array([place[name] for name in names], dtype=np.int64)
    first, second = rank[results.pair // results.agents], rank[results.pair % results.agents]
    amounts = results.games, 2 * results.points, results.drawn
    rows = np.stack([first, second, *amounts], axis=1).astype("<i8")
    order = np.lexsort((second, first, results.opening))
    ends = np.searchsorted(results.opening[order], np.arange(results.openings + 1))
    content = [rows[order[start:stop]].tobytes() for start, stop in pairwise(ends)]
    by_content = sorted(range(results.openings), key=content.__getitem__)
    digest = hashlib.blake2b("\0".join(sorted(names)).encode(), digest_size=8)
    for at in by_content:
        digest.update(content[at])
    number = np.empty(results.openings, dtype=np.int64)
    number[by_content] = np.arange(results.openings)
    opening = number[results.opening]
    again = np.lexsort((results.pair, opening))
    renumbered = RatingData(
        results.agents,
        results.openings,
        opening[again],
        results.pair[again],
        results.games[again],
        results.points[again],
        results.drawn[again],
    )
    return renumbered, int.from_bytes(digest.digest(), "little")


def _sums(places: Ints, amounts: npt.ArrayLike, size: int) -> Floats:
    return np.bincount(places, amounts, size).astype(np.float64)


def _check_games(movers: tuple[Ints, Ints], scores: Floats, agents: int) -> None:
    both = np.stack(movers)
    if np.any((both < 0) | (both >= agents)):
        raise ValueError(f"agents must be numbered from 0 to {agents - 1}")
    if np.any(movers[0] == movers[1]):
        raise ValueError("an agent cannot be rated against itself")
    if not np.all((scores == 0.0) | (scores == 0.5) | (scores == 1.0)):
        raise ValueError("a game's score must be 0, 0.5 or 1")


def select_agents(results: RatingData, members: Ints) -> RatingData:
    """Return the games among some agents, renumbered in the order of `members`; openings stay."""
    if np.array_equal(members, np.arange(results.agents)):
        return results
    place = np.full(results.agents, -1)
    place[members] = np.arange(len(members))
    first, second = place[results.pair // results.agents], place[results.pair % results.agents]
    kept = (first >= 0) & (second >= 0)
    return RatingData(
        agents=len(members),
        openings=results.openings,
        opening=results.opening[kept],
        pair=(first * len(members) + second)[kept],
        games=results.games[kept],
        points=results.points[kept],
        drawn=results.drawn[kept],
    )


def pair_matrix(results: RatingData, sums: Floats) -> Floats:
    """Return the matrix first mover by second mover of a sum per entry."""
    square = _sums(results.pair, sums, results.agents**2)
    return square.reshape(results.agents, results.agents)


def openings_by_agent(results: RatingData) -> Ints:
    """Return the number of distinct openings that each agent played."""
    counts = np.zeros(results.agents, dtype=np.int64)
    for start in range(0, results.openings, _OPENINGS_AT_ONCE):
        entries = slice(*np.searchsorted(results.opening, (start, start + _OPENINGS_AT_ONCE)))
        size = min(_OPENINGS_AT_ONCE, results.openings - start)
        played = np.zeros((size, results.agents), dtype=np.bool_)
        opening, pair = results.opening[entries] - start, results.pair[entries]
        played[opening, pair // results.agents] = True
        played[opening, pair % results.agents] = True
        counts += played.sum(axis=0)
    return counts
