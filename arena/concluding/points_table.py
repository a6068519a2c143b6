"""Points, places and the official order of the agents: every table, page and file uses these."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.concluding.match_sums import Match
from arena.planning.rounds import TournamentStanding
from arena.stats.elo import FEW_OPENINGS

TIES = "if points are equal, games won decide, then the sum of the final scores"


class GameTally(NamedTuple):
    """All games of one agent, duplicates and forfeits included.

    `margin` sums the final scores, its own minus the other's, of games without a forfeit.
    """

    won: int = 0
    drawn: int = 0
    lost: int = 0
    margin: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """One for a game won, half for a draw."""
        return self.won + self.drawn / 2

    @property
    def score(self) -> float:
        """Points per game; 0 without games."""
        return self.points / (self.games or 1)

    def plus(self, other: "GameTally") -> "GameTally":
        """The sum of both."""
        return GameTally(*(one + more for one, more in zip(self, other, strict=True)))


class PointsRow(NamedTuple):
    """One agent; agents that are equal in `score`, games won and `margin` share the `place`."""

    place: int
    agent: str
    points: float
    games: int
    score: float
    won: int
    drawn: int
    lost: int
    margin: int
    champion: int


def tallies(found: Sequence[Match], agents: int) -> list[GameTally]:
    """The games of each agent, by place."""
    sums = [GameTally()] * agents
    for match in found:
        for side in (match, match.mirrored()):
            sums[side.a] = sums[side.a].plus(_tally(side))
    return sums


def _tally(match: Match) -> GameTally:
    """The games of `match.a`."""
    won, lost = match.won, match.mirrored().won
    return GameTally(won, 2 * match.pairings - won - lost, lost, match.margin)


def official_places(
    own: Mapping[str, GameTally],
    rated: Sequence[str],
    *,
    openings: int,
    by_points: bool = False,
    scheduled: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The place of each agent, in the official order; equals share a place.

    By points, then games won and final scores, if the experiment asks for it. Else the places
    that the schedule gave; else `rated`, the order by rating, but by points alone if there are
    too few openings for ratings.
    """
    if by_points:
        in_file = [name for name in own if name in rated]
        return _places(in_file, {name: _key(own[name]) for name in rated})
    if scheduled:
        places = {name: scheduled.get(name, len(rated)) for name in rated}
        order = enumerate(sorted(rated, key=places.__getitem__), 1)
        return {name: scheduled.get(name, at) for at, name in order}
    if openings < FEW_OPENINGS:
        return _places(rated, {name: _key(own[name])[:2] for name in rated})
    return {name: place for place, name in enumerate(rated, 1)}


def scheduled_places(
    standing: TournamentStanding | None, names: Sequence[str]
) -> Mapping[str, int] | None:
    """The places that a schedule gave to all agents, or to the winner; None if it did not."""
    rows = () if standing is None else standing.rows
    given = {names[row.agent]: row.place for row in rows if row.place is not None}
    return given if len(given) == len(names) or [*given.values()] == [1] else None


def _places(agents: Sequence[str], keys: Mapping[str, tuple[float, ...]]) -> dict[str, int]:
    """Places by keys, the smallest first; equals share a place, in the order of `agents`."""
    order = sorted(agents, key=keys.__getitem__)
    places: dict[str, int] = {}
    for at, name in enumerate(order):
        same = at > 0 and keys[name] == keys[order[at - 1]]
        places[name] = places[order[at - 1]] if same else at + 1
    return places


def _key(own: GameTally) -> tuple[float, ...]:
    """Rank by points per game, as agents may have played different numbers of games."""
    games = own.games or 1
    return own.games == 0, -own.score, -own.won / games, -own.margin / games


def points_rows(own: Mapping[str, GameTally], places: Mapping[str, int]) -> list[PointsRow]:
    """One row for each agent that played, in the official order."""
    return [
        PointsRow(
            place=place,
            agent=name,
            points=own[name].points,
            games=own[name].games,
            score=round(own[name].score, 6),
            won=own[name].won,
            drawn=own[name].drawn,
            lost=own[name].lost,
            margin=own[name].margin,
            champion=int(place == 1),
        )
        for name, place in places.items()
        if own[name].games
    ]


def points_lines(rows: Sequence[PointsRow]) -> list[str]:
    """The table in lines, the champion in the last one but one."""
    if not rows:
        return []
    width = max(5, *(len(row.agent) for row in rows))
    lines = [f"place  {'agent':<{width}}  points  games    won  drawn   lost  scores"]
    lines += [
        f"{row.place:>5}  {row.agent:<{width}}  {row.points:>6g}  {row.games:>5}  {row.won:>5}  "
        f"{row.drawn:>5}  {row.lost:>5}  {row.margin:>+6d}"
        for row in rows
    ]
    first = [row.agent for row in rows if row.champion]
    word = "champion" if len(first) == 1 else "champions, equal in all"
    return [*lines, f"{word}: {', '.join(first)}", f"({TIES})"]
