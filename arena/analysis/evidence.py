"""The games of a run that count as evidence, read in chunks."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.sandbox.sandbox import Sandbox
from arena.analysis.duplicates import (
    DuplicateAgentFinder,
    IdenticalPlay,
    duplicate_keys,
    flag_known,
    repeat_keys,
)
from arena.analysis.exclusions import Exclusion, first_unplayed, unearned_wins
from arena.analysis.match_counts import Match, MatchCounter
from arena.analysis.timings import Timing, TimingCounter
from arena.planning.games import (
    DRAW,
    LOSS,
    WIN,
    GameParts,
    Games,
    Termination,
    fair_games,
    first_movers,
    moves_of_game,
    pieces,
    slice_games,
)
from arena.planning.plan import Plan
from games.base.schema import KeyValues
from games.transcripts import replay_command

if TYPE_CHECKING:
    from arena.analysis.move_losses.judge import JudgedMoves

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
Census = Collection[tuple[str, str]]
Replay = Callable[[int, Games], Sequence[int]]  # of a row, and both games of its pairing
Lines = Sequence[Sequence[int]]
Looks = Callable[[str, str, KeyValues], int]  # of a claim: what about, its key, its values
Select = Callable[[Games], Flags]

SEATS = ("first", "second")
FOUND = 64  # pairings that stay in memory once somebody has asked for them


def no_earlier_looks(_: str, __: str, ___: KeyValues) -> int:
    """The earlier looks at a claim where nobody kept any."""
    return 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The games of a run with all that is known of them, which every conclusion uses.

    There are so many `games`, which `parts` gives as often as they are asked for; `repeat` marks
    those in which the same seats played an opening again with the same moves. `faulty` names the
    agents that never played a game without a fault. `steady` names the pairs of agents known to
    leave nothing to chance, `census` those of them that played every opening of a finite set.
    `starts` gives the openings in move numbers, `pairing` both games of one, `replay` the moves of
    a game that kept none; None if it cannot be played again. `judged` gives what the moves lost
    from so many beans in play on, 0 for as many as usual; `progress` is told what takes a while;
    `looks` counts the earlier looks at a claim. `same` are agents that play identically; `traced`
    is whether games have traces of faults. `opening_plies` are the fewest and the most plies of
    the openings played; None if unknown. `duplicates` counts the fair games that are equal to an
    earlier one of their match; `excluded` are bots.
    """

    plan: Plan
    parts: GameParts
    games: int
    openings: int
    repeat: Flags
    matches: tuple[Match, ...]
    timings: tuple[Timing, ...]
    faulty: frozenset[str]
    keeps_moves: bool
    pairing: Callable[[int], Games]
    census: Census
    starts: Callable[[], Lines]
    replay: Replay | None
    wall: Sandbox  # behind which a user's code is asked once more, by proofs
    judged: Callable[[int], "JudgedMoves"]
    progress: Callable[[str], None]
    steady: Census = ()
    looks: Looks = no_earlier_looks
    same: tuple[IdenticalPlay, ...] = ()
    traced: bool = True
    opening_plies: tuple[int, int] | None = None
    duplicates: int = 0
    excluded: tuple[Exclusion, ...] = ()

    def between(self, winner: str, loser: str) -> Match | None:
        """The games of two agents, seen by the first; None if there are none."""
        a, b = (self.plan.names.index(name) for name in (winner, loser))
        for match in self.matches:
            if (match.a, match.b) == (a, b):
                return match
            if (match.a, match.b) == (b, a):
                return match.mirrored()
        return None

    def pieces(self) -> Iterator[tuple[int, Games]]:
        """All games piece by piece, each with the row of its first game."""
        at = 0
        for piece in pieces(self.parts()):
            yield at, piece
            at += len(piece)

    def shortest(self, select: Select) -> int | None:
        """The row of the shortest of the games that are selected, the first of equals."""
        best: tuple[int, int] | None = None
        for start, piece in self.pieces():
            rows = np.flatnonzero(select(piece))
            if len(rows):
                row = int(rows[np.argmin(piece.plies[rows])])
                each = int(piece.plies[row]), start + row
                best = each if best is None else min(best, each)
        return best and best[1]

    def game(self, row: int) -> tuple[Games, int]:
        """Both games of a pairing, and which of them stands in this row."""
        return self.pairing(row // 2), row % 2

    def moves(self, row: int) -> Sequence[int] | None:
        """The moves of the game in a row; None if they were not kept."""
        games, leg = self.game(row)
        if games.moves is not None:
            return moves_of_game(games, leg)
        return self.replay and self.replay(row, games)

    def command(self, row: int) -> str | None:
        """The command that shows the game in a row; None if its moves were not kept."""
        moves = self.moves(row)
        return None if moves is None else replay_command(self.plan.of, moves)

    def end_of(self, row: int, agent: int) -> str:
        """How the game in a row ended for an agent that did not win it."""
        games, leg = self.game(row)
        seat = 0 if games.first[leg] == agent else 1
        turn = SEATS[int(first_movers(games)[leg] != agent)]
        lead = f"{self.plan.names[agent]} moves {turn} and"
        how = Termination(int(games.termination[leg]))
        drawn = games.result[leg] == DRAW
        if how is Termination.RESIGNED and not drawn:
            return f"{lead} resigns"
        if not how.fair and not drawn:
            return f"{lead} forfeits ({how.name.lower()})"
        return f"{lead} {ending_text(0 if drawn else int(games.margin[leg]) * (1 - 2 * seat))}"


def evidence_of(
    plan: Plan,
    parts: GameParts,
    census: Census = (),
    starts: Callable[[], Lines] = lambda: ((),),
    replay: Replay | None = None,
    wall: Sandbox | None = None,
    progress: Callable[[str], None] = lambda _: None,
    steady: Census = (),
    looks: Looks | None = None,
    opening_plies: Rows | None = None,  # of each opening
    excluded: tuple[Exclusion, ...] = (),
) -> Evidence:
    """The evidence of games in schedule order, both games of a pairing together."""
    repeat, duplicate = (flag_known(parts(), keys) for keys in (repeat_keys, duplicate_keys))
    summed, timing, fair = (
        MatchCounter(),
        TimingCounter(plan.names),
        FairGameCounter(plan.names),
    )
    unearned, since = Counter[tuple[int, int]](), first_unplayed(excluded, plan.names)
    same, taken = DuplicateAgentFinder([*plan.agents.values()]), 0
    for piece, again in marked_pieces(parts, repeat):
        summed.take(piece, duplicate[taken : taken + len(piece)])
        unearned.update(unearned_wins(piece, taken, since))
        taken += len(piece)
        timing.take(piece)
        fair.take(piece)
        same.take(piece, again)

    @cache
    def judged(last: int) -> "JudgedMoves":
        from arena.analysis.move_losses.judge import judge_moves  # noqa: PLC0415  # the compiler

        return judge_moves(plan, parts, repeat, starts(), last, progress)

    @lru_cache(FOUND)
    def pairing(number: int) -> Games:
        return pair_games(parts, number)

    matches = tuple(
        match._replace(unearned=(unearned[match.a, match.b], unearned[match.b, match.a]))
        for match in summed.matches()
    )
    met = np.unique(np.concatenate([np.empty(0, np.int32), *(each.openings for each in matches)]))
    return Evidence(
        plan, parts, len(repeat), len(met), repeat, matches,
        tuple(timing.rows()), fair.faulty(), fair.keeps_moves, pairing, census, starts,
        replay, wall or Sandbox(), judged, progress, steady, looks or no_earlier_looks,
        same.found(plan.of, lambda: marked_pieces(parts, repeat)), fair.traced,
        _range(opening_plies, met), int(np.count_nonzero(duplicate)), excluded,
    )  # fmt: skip


def marked_pieces(parts: GameParts, repeat: Flags) -> Iterator[tuple[Games, Flags]]:
    """All games piece by piece, each with the marks of those that repeat earlier ones."""
    at = 0
    for piece in pieces(parts()):
        yield piece, repeat[at : at + len(piece)]
        at += len(piece)


def _range(plies: Rows | None, met: NDArray[np.int32]) -> tuple[int, int] | None:
    """The shortest and the longest of the openings that were met; None if that is not known."""
    if plies is None or not len(met):
        return None
    return int(plies[met].min()), int(plies[met].max())


class FairGameCounter:
    """Takes games and notes which agents played a fair one, and what is kept of the games."""

    def __init__(self, names: Sequence[str]) -> None:
        """No games yet."""
        self.names, self.keeps_moves, self.traced = names, True, False
        self._played = np.zeros(len(names), np.bool_)
        self._fair = np.zeros(len(names), np.bool_)

    def take(self, games: Games) -> None:
        """Take more games."""
        fair = fair_games(games)
        for seat in (games.first, games.second):
            self._played[seat] = True
            self._fair[seat[fair]] = True
        self.keeps_moves &= games.moves is not None
        self.traced |= bool(games.traces)

    def faulty(self) -> frozenset[str]:
        """The agents that played, but never a game that ended without a fault."""
        places = np.flatnonzero(self._played & ~self._fair).tolist()
        return frozenset(self.names[at] for at in places)


def pair_games(parts: GameParts, number: int) -> Games:
    """Both games of a pairing with all that is kept of them; IndexError if it is not there."""
    row = 2 * number
    for part in parts():
        if row < len(part):
            return slice_games(part, row, row + 2)
        row -= len(part)
    raise IndexError(f"there is no pairing {number}")


def ending_text(margin: int) -> str:
    """How an agent that does not win ends a game with this margin."""
    return "draws" if margin == 0 else f"loses by {-margin}"


def not_won(games: Games, agent: int, other: int) -> Flags:
    """Which games an agent played against another and did not win."""
    first = (games.first == agent) & (games.second == other) & (games.result != WIN)
    second = (games.first == other) & (games.second == agent) & (games.result != LOSS)
    return np.asarray(first | second)


def forfeited_games(games: Games, agents: Sequence[int]) -> Flags:
    """Which games one of these agents lost by a fault of its own."""
    lost = np.where(games.result == LOSS, games.first, games.second)
    faults = ~fair_games(games) & (games.result != DRAW)
    return np.asarray(faults & np.isin(lost, list(agents)))


def pair_scores_of(evidence: Evidence, match: Match, fair: bool) -> Iterator[NDArray[np.float64]]:
    """The mean score of `match.a` in each of its pairings, piece by piece in schedule order.

    `fair` leaves out the pairings in which a game was forfeited.
    """
    for _, games in evidence.pieces():
        one, other = slice(0, None, 2), slice(1, None, 2)
        turned = (games.first[one] == match.b) & (games.second[one] == match.a)
        own = turned | (games.first[one] == match.a) & (games.second[one] == match.b)
        if fair:
            ended = fair_games(games)
            own &= ended[one] & ended[other]
        points = (games.result[one] + WIN - games.result[other].astype(np.int64)) / (2.0 * WIN)
        yield np.where(turned, 1.0 - points, points)[own]
