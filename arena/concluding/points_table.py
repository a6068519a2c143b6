"""Standings by points: matches of two games won, drawn and lost, and a champion."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.concluding.match_sums import Match

WON, DRAWN = 2, 1  # points of a match
TIES = "of equals: matches won, then games won (a draw is half), then beans or discs in all"


class PointsRow(NamedTuple):
    """One agent; a match is the two games of a pairing, won by more than half of their points.

    Equal in all of `points`, `won`, `game_points` and `margin` is equal in `place`; the first is
    the champion, or they are. `margin` sums the final scores of games without a forfeit.
    """

    place: int
    agent: str
    points: int
    won: int
    drawn: int
    lost: int
    game_points: float
    margin: int
    champion: int


def points_rows(found: Sequence[Match], names: Sequence[str]) -> list[PointsRow]:
    """One row for each agent that played, the champion first."""
    sums = np.zeros((len(names), 5))  # won, drawn, lost, game points, margin
    for match in found:
        for agent, score, sign in ((match.a, match.scores, 1), (match.b, 1.0 - match.scores, -1)):
            results = [
                int(match.times[score > 0.5].sum()),
                int(match.times[score == 0.5].sum()),
                int(match.times[score < 0.5].sum()),
            ]
            points = 2.0 * float((score * match.times).sum())
            sums[agent] += [*results, points, sign * match.margin]
    played = [place for place in range(len(names)) if sums[place, :3].any()]
    keys = {place: _key(sums[place]) for place in played}
    order = sorted(played, key=lambda place: ([-each for each in keys[place]], place))
    rows: list[PointsRow] = []
    for at, place in enumerate(order):
        same = at > 0 and keys[place] == keys[order[at - 1]]
        rank = rows[-1].place if same else at + 1
        won, drawn, lost, game_points, margin = sums[place].tolist()
        rows.append(
            PointsRow(
                rank, names[place], int(WON * won + DRAWN * drawn), int(won), int(drawn),
                int(lost), game_points, int(margin), int(rank == 1),
            )
        )  # fmt: skip
    return rows


def _key(sums: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, ...]:
    won, drawn, _, game_points, margin = sums.tolist()
    return WON * won + DRAWN * drawn, won, game_points, margin


def points_lines(rows: Sequence[PointsRow]) -> list[str]:
    """The table in lines, the champion in the last one but one."""
    if not rows:
        return []
    width = max(5, *(len(row.agent) for row in rows))
    lines = [f"place  {'agent':<{width}}  points  won drawn lost  games  score"]
    lines += [
        f"{row.place:>5}  {row.agent:<{width}}  {row.points:>6}  {row.won:>3} {row.drawn:>5} "
        f"{row.lost:>4}  {row.game_points:>5g}  {row.margin:>+5d}"
        for row in rows
    ]
    first = [row.agent for row in rows if row.champion]
    word = "champion" if len(first) == 1 else "champions, equal in all"
    return [*lines, f"{word}: {', '.join(first)}", f"({TIES})"]
