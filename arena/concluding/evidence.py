"""The evidence of a run: which of its games are new, who met whom."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.wall.wall import Wall
from arena.planning.plan import Plan
from arena.planning.records import DRAW, WIN, GameColumn, Games, Termination, moves_of
from games.kernels.splitmix import STRIDE
from games.keys import KeyValues
from games.transcripts import replay_command

if TYPE_CHECKING:
    from arena.concluding.judged_moves import JudgedMoves

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
Words = NDArray[np.uint64]
Census = Collection[tuple[str, str]]
Replay = Callable[[int], Sequence[int]]
Lines = Sequence[Sequence[int]]
Looks = Callable[[str, str, KeyValues], int]  # of a claim: what about, its key, its values

SEATS = ("first", "second")


def never_looked(_: str, __: str, ___: KeyValues) -> int:
    """The earlier looks at a claim where nobody kept any."""
    return 0


class Match(NamedTuple):
    """All pairings of two agents in schedule order; `a` comes first in the experiment.

    `first` and `second` are the rows of the games in which `a` moved first and second, the
    scores are those of `a`. Pairings that are not `fresh` repeat earlier ones.
    """

    a: int
    b: int
    first: Rows
    second: Rows
    openings: NDArray[np.int32]
    as_first: NDArray[np.float64]
    as_second: NDArray[np.float64]
    fresh: Flags

    @property
    def rows(self) -> Rows:
        """The rows of all games of the match."""
        return np.concatenate([self.first, self.second])

    @property
    def scores(self) -> NDArray[np.float64]:
        """The mean score of `a` in each pairing."""
        return (self.as_first + self.as_second) / 2.0

    def evidence(self) -> "Match":
        """The match without the pairings that repeat earlier ones."""
        return self if self.fresh.all() else self.only(self.fresh)

    def only(self, kept: Flags) -> "Match":
        """The match with some of its pairings."""
        return self._replace(
            first=self.first[kept],
            second=self.second[kept],
            openings=self.openings[kept],
            as_first=self.as_first[kept],
            as_second=self.as_second[kept],
            fresh=self.fresh[kept],
        )

    def mirrored(self) -> "Match":
        """The same pairings seen by `b`."""
        return self._replace(
            a=self.b,
            b=self.a,
            first=self.second,
            second=self.first,
            as_first=1.0 - self.as_second,
            as_second=1.0 - self.as_first,
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """The games of a run with all that is known of them, which every conclusion uses.

    `repeat` marks games that repeat earlier ones. `steady` names the pairs of agents known to
    leave nothing to chance, `census` those of them that played every opening of a finite set.
    `starts` gives the openings in move numbers, `replay` the moves of the game in a row; None if
    it cannot be played again. `judged` gives what the moves lost from so many beans in play on, 0
    for as many as usual; `progress` is told what takes a while; `looks` counts the earlier looks
    at a claim.
    """

    plan: Plan
    games: Games
    repeat: Flags
    matches: tuple[Match, ...]
    census: Census
    starts: Callable[[], Lines]
    replay: Replay | None
    wall: Wall  # behind which a user's code is asked once more, by proofs
    judged: Callable[[int], "JudgedMoves"]
    progress: Callable[[str], None]
    steady: Census = ()
    looks: Looks = never_looked

    def between(self, winner: str, loser: str) -> Match | None:
        """The games of two agents, seen by the first; None if there are none."""
        a, b = (self.plan.names.index(name) for name in (winner, loser))
        for match in self.matches:
            if (match.a, match.b) == (a, b):
                return match
            if (match.a, match.b) == (b, a):
                return match.mirrored()
        return None

    def shortest(self, rows: Rows) -> int:
        """The row of the shortest of some games, the first of equals."""
        ordered = np.sort(rows)
        return int(ordered[np.argmin(self.games.plies[ordered])])

    def moves(self, row: int) -> Sequence[int] | None:
        """The moves of the game in a row; None if they were not kept."""
        if self.games.moves is not None:
            return moves_of(self.games, row)
        return self.replay and self.replay(row)

    def command(self, row: int) -> str | None:
        """The command that shows the game in a row; None if its moves were not kept."""
        moves = self.moves(row)
        return None if moves is None else replay_command(self.plan.of, moves)

    def end_of(self, row: int, agent: int) -> str:
        """How the game in a row ended for an agent that did not win it."""
        games = self.games
        seat = 0 if games.first[row] == agent else 1
        lead = f"{self.plan.names[agent]} moves {SEATS[seat]} and"
        how = Termination(int(games.termination[row]))
        drawn = games.result[row] == DRAW
        if how is Termination.RESIGNED and not drawn:
            return f"{lead} resigns"
        if not how.fair and not drawn:
            return f"{lead} forfeits ({how.name.lower()})"
        return f"{lead} {ending(0 if drawn else int(games.margin[row]) * (1 - 2 * seat))}"


def evidence_of(
    plan: Plan,
    games: Games,
    census: Census = (),
    starts: Callable[[], Lines] = lambda: ((),),
    replay: Replay | None = None,
    wall: Wall | None = None,
    progress: Callable[[str], None] = lambda _: None,
    steady: Census = (),
    looks: Looks | None = None,
) -> Evidence:
    """The evidence of games in schedule order, both games of a pairing together."""
    repeat = repeats(games)

    @cache
    def judged(last: int) -> "JudgedMoves":
        from arena.concluding.judged_moves import judged_moves  # noqa: PLC0415  # the compiler

        return judged_moves(plan, games, repeat, starts(), last, progress)

    played, behind = tuple(matches(games, repeat)), wall or Wall()
    return Evidence(
        plan, games, repeat, played, census, starts, replay, behind, judged, progress, steady,
        looks or never_looked,
    )  # fmt: skip


def ending(margin: int) -> str:
    """How an agent that does not win ends a game with this margin."""
    return "draws" if margin == 0 else f"loses by {-margin}"


def keys_of(games: Games) -> Words:
    """A number for each game, which its moves and the agents in both seats decide."""
    seats = games.first.astype(np.uint64) << np.uint64(16) | games.second.astype(np.uint64)
    keys: Words = games.game_id + (seats + np.uint64(1)) * STRIDE
    return keys


def repeats(games: Games) -> Flags:
    """Which games repeat earlier ones."""
    keys = keys_of(games)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found = np.zeros(len(games), np.bool_)
    found[order[1:][ordered[1:] == ordered[:-1]]] = True
    return found


def matches(games: Games, repeat: Flags) -> list[Match]:
    """The matches of a run, by the places of their agents."""
    legs = _legs(games)
    low, high = (np.asarray(side[legs[0]], np.int64) for side in (games.first, games.second))
    turned = low > high
    low, high = np.where(turned, high, low), np.where(turned, low, high)
    first, second = np.where(turned, legs[::-1], legs)
    order = np.argsort(low * (high.max(initial=0) + 1) + high, kind="stable")
    changes = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    parts = np.split(order, np.flatnonzero(changes) + 1) if len(order) else []
    return [
        _match(games, repeat, (int(low[part[0]]), int(high[part[0]])), first[part], second[part])
        for part in parts
    ]


def faultless(games: Games, match: Match) -> Match:
    """The match without the pairings in which a game ended by a fault."""
    normal = games.termination == Termination.NORMAL
    return match.only(normal[match.first] & normal[match.second])


def forfeited_rows(games: Games, match: Match, agent: int) -> Rows:
    """The games of a match that one of its agents lost by a fault of its own."""
    own = match if agent == match.a else match.mirrored()
    rows = np.concatenate([own.first[own.as_first == 0.0], own.second[own.as_second == 0.0]])
    fair = [how for how in Termination if how.fair]
    return np.asarray(rows[~np.isin(games.termination[rows], fair)])


def _legs(games: Games) -> tuple[Rows, Rows]:
    """The rows of the first and of the second games of all pairings."""
    rows = np.arange(len(games), dtype=np.int64)
    one, other = rows[0::2], rows[1::2]
    whole = len(one) == len(other) and np.array_equal(games.pair[one], games.pair[other])
    if not whole or np.any(games.first[one] != games.second[other]):
        raise ValueError("both games of a pairing must stand together, sides swapped")
    return one, other


def _match(
    games: Games, repeat: Flags, agents: tuple[int, int], first: Rows, second: Rows
) -> Match:
    openings = games.opening[first]
    played = games.game_id[first], games.game_id[second]
    return Match(
        *agents,
        first,
        second,
        openings,
        games.result[first] / float(WIN),
        1.0 - games.result[second] / float(WIN),
        _fresh(openings, played, repeat[first] & repeat[second]),
    )


def _fresh(openings: GameColumn, played: tuple[Words, Words], seen: Flags) -> Flags:
    """Which pairings are evidence: all of them if two on the same opening ever differed.

    Otherwise the agents are taken as deterministic, and what repeats is a replay.
    """
    if not seen.any():
        return ~seen
    _, earliest, opening = np.unique(openings, return_index=True, return_inverse=True)
    same = earliest[opening]
    varied = np.any([games != games[same] for games in played])
    return np.ones_like(seen) if varied else ~seen
