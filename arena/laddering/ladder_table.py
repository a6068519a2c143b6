"""The table of a ladder: its order, how each agent came there, ratings from all its games."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.keeping.known_games import KnownGames
from arena.keeping.known_keys import GameKeys
from arena.keeping.parquet import write_rows
from arena.laddering.ladder_file import Ladder
from arena.planning.drawing import draw
from arena.planning.records import WIN
from arena.stats.ratings import RatingPlan, rate
from arena.stats.results import gather

TABLE = "ladder.parquet"
NOTE = "Elo from all games of the ladder; whom an agent met followed from results: no intervals"


class LadderRow(NamedTuple):
    """One agent of a ladder, the strongest first; Elo None where it cannot be compared."""

    place: int
    agent: str
    elo: float | None
    group: int
    games: int
    points: float
    placed: str


def ladder_rows(ladder: Ladder, games: KnownGames) -> list[LadderRow]:
    """One row for each agent, in order."""
    if not ladder.names:
        return []
    first, second, scores, openings = _results(ladder, games)
    names = ladder.names
    results = gather(first, second, scores, openings, len(names))
    anchor, elo = next(iter(ladder.anchors.items()), (None, 0.0))
    place = None if anchor is None else names.index(anchor)
    rated = rate(results, RatingPlan(draws=0, anchor=place, anchor_elo=elo))
    return [
        LadderRow(
            place=at + 1,
            agent=names[at],
            elo=None if row.rating.value is None else round(row.rating.value, 6),
            group=row.pool + 1,
            games=row.games,
            points=row.points,
            placed=ladder.placed.get(names[at], ""),
        )
        for at, row in enumerate(sorted(rated.agents, key=lambda row: row.agent))
    ]


def _results(
    ladder: Ladder, games: KnownGames
) -> tuple[Sequence[int], Sequence[int], Sequence[float], Sequence[int]]:
    """First and second mover, score of the first and opening of all games between agents."""
    drawn = draw(ladder.plan)
    keys = GameKeys(drawn, everybody=True)
    sides = dict(zip(drawn.pairings.keys.tolist(), drawn.pairings.sides.tolist(), strict=True))
    first, second, scores, openings = [], [], [], []
    for a, b in combinations(range(len(ladder.names)), 2):
        name = keys.shelf(a, b)
        shelf = games.shelf(name, with_moves=False) if name is not None else None
        if shelf is None or not len(shelf.hashes):
            continue
        found = games.games([(shelf, np.arange(len(shelf.hashes)))], with_moves=False)
        if found is None:
            continue
        own = shelf.words[:, 0].tolist()
        second_moves = np.array([sides[opening] for opening in own]) == 1
        turned = keys.turned(a, b, shelf.words) != second_moves
        first += np.where(turned, b, a).tolist()
        second += np.where(turned, a, b).tolist()
        scores += (np.where(second_moves, WIN - found.result, found.result) / float(WIN)).tolist()
        openings += own
    return first, second, scores, openings


def write_table(ladder: Ladder, rows: Sequence[LadderRow]) -> None:
    """Write the table into the ladder's directory."""
    source = {"game": ladder.plan.game, "seed": ladder.plan.seed, "plan": ladder.plan.to_json()}
    write_rows(ladder.directory / TABLE, LadderRow, rows, source)
