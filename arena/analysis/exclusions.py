"""Bots that a run excluded, and the games that they forfeited unplayed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import DRAW, WIN, Games
from games.base.schema import KeyValues

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
KEY = "excluded"  # in summary.json
EXCLUDED = "excluded"  # the mark of a bot in standings


class Exclusion(NamedTuple):
    """A bot that was excluded: all its games from number `since` on were forfeited unplayed."""

    agent: str
    since: int
    unplayed: int  # games that it forfeited without being asked
    reason: str

    @property
    def line(self) -> str:
        """Return the agent, the reason and the number of unplayed games."""
        return f"{self.agent} {self.reason}; {unplayed_text(self.unplayed)}"


def unplayed_text(games: int) -> str:
    """Return how many games a bot forfeited without being asked."""
    return f"{games:,} game{'s' * (games != 1)} forfeited unplayed after its exclusion"


def exclusions_json(excluded: Iterable[Exclusion]) -> list[KeyValues]:
    """Return exclusions as summary.json has them."""
    return [each._asdict() for each in excluded]


def stored_exclusions(summary: KeyValues) -> tuple[Exclusion, ...]:
    """Return the exclusions in a summary.json; none if it was written without them."""
    return tuple(Exclusion(**each) for each in summary.get(KEY) or ())


def first_unplayed(excluded: Iterable[Exclusion], names: Sequence[str]) -> Mapping[int, int]:
    """Return the first unplayed game of each excluded bot, by the bot's place."""
    return {names.index(each.agent): each.since for each in excluded}


def unearned_wins(games: Games, start: int, since: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Return winner and loser of the unplayed games between two bots that were excluded before.

    `start` is the row of the first game.
    """
    rows = start + np.arange(len(games))
    first = unplayed_games(games.first, rows, since)
    second = unplayed_games(games.second, rows, since)
    for row in np.flatnonzero(first & second & (games.result != DRAW)).tolist():
        both = int(games.first[row]), int(games.second[row])
        yield both if games.result[row] == WIN else both[::-1]


def unplayed_games(losers: Rows, rows: Rows, since: Mapping[int, int]) -> Flags:
    """Return which of the forfeited games in these rows were not played; `losers` lost them."""
    found = np.zeros(len(rows), np.bool_)
    for place, first in since.items():
        found |= (losers == place) & (rows >= first)
    return found
