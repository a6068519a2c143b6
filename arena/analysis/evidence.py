"""The games of a run that count as evidence, read in chunks, and the bots that it excluded."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.sandbox.sandbox import Sandbox
from arena.analysis.duplicates import (
    DuplicateAgentFinder,
    IdenticalPlay,
    duplicate_keys,
    flag_repeats,
    repeat_keys,
)
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
    rechunk_games,
    slice_games,
)
from arena.planning.plan import Plan
from arena.planning.schedule import Schedule
from games.base.schema import KeyValues
from games.transcripts import replay_command

if TYPE_CHECKING:
    from arena.analysis.move_losses.judge import JudgedMoves
    from arena.storage.journal import Section

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
AgentPairs = Collection[tuple[str, str]]
Replay = Callable[[int, Games], Sequence[int]]  # of a row, and both games of its pair
Lines = Sequence[Sequence[int]]
LookCounter = Callable[[str, str, KeyValues], int]  # of a claim: its subject, key and values
Select = Callable[[Games], Flags]

SEATS = ("first", "second")
CACHED_PAIRS = 64
KEY = "excluded"  # in summary.json
EXCLUDED = "excluded"  # the mark of a bot in standings


class Exclusion(NamedTuple):
    """An excluded bot, which forfeited all its games from number `since` on without playing."""

    agent: str
    since: int
    unplayed: int
    reason: str

    @property
    def line(self) -> str:
        """Return the agent, the reason and the number of unplayed games."""
        games = f"{self.unplayed:,} game{'s' * (self.unplayed != 1)}"
        return f"{self.agent} {self.reason}; {games} forfeited unplayed after its exclusion"


def exclusions_json(excluded: Iterable[Exclusion]) -> list[KeyValues]:
    """Return exclusions as summary.json stores them."""
    return [each._asdict() for each in excluded]


def load_exclusions(summary: KeyValues) -> tuple[Exclusion, ...]:
    """Return the exclusions in a summary.json; none if it was written without them."""
    return tuple(Exclusion(**each) for each in summary.get(KEY) or ())


def exclusion_rows(excluded: Iterable[Exclusion], names: Sequence[str]) -> Mapping[int, int]:
    """Return the first unplayed game of each excluded bot, by the bot's place."""
    return {names.index(each.agent): each.since for each in excluded}


def is_after_exclusion(losers: Rows, rows: Rows, since: Mapping[int, int]) -> Flags:
    """Return which of the forfeited games in these rows were not played; `losers` lost them."""
    found = np.zeros(len(rows), np.bool_)
    for place, first in since.items():
        found |= (losers == place) & (rows >= first)
    return found


def wins_after_exclusion(
    games: Games, start: int, since: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Return winner and loser of unplayed games between two excluded bots.

    `start` is the row of the first game.
    """
    rows = start + np.arange(len(games))
    first = is_after_exclusion(games.first, rows, since)
    second = is_after_exclusion(games.second, rows, since)
    for row in np.flatnonzero(first & second & (games.result != DRAW)).tolist():
        both = int(games.first[row]), int(games.second[row])
        yield both if games.result[row] == WIN else both[::-1]


def no_earlier_looks(_: str, __: str, ___: KeyValues) -> int:
    """Return 0, for runs whose claims have no history."""
    return 0


@dataclass(frozen=True)
class Evidence:
    """The games of a run with the facts that every conclusion uses.

    Every call of `parts` returns the `games` again. `repeat` marks games in which the same seats
    played an opening again with the same moves. `faulty` agents never played a game without a
    fault. `deterministic_pairs` of agents use no chance; `census_pairs` are those of them that
    played every opening of a finite set. `starts` returns the openings as move numbers. `replay`
    returns the moves of a game that stored none; it is None if that is impossible. Bots that
    proofs start again run in `sandbox`. `opening_plies` are the fewest and the most plies of the
    openings played; None if unknown. `duplicates` counts the fair games equal to an earlier one of
    their match.
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
    has_traces: bool
    load_pair: Callable[[int], Games]
    census_pairs: AgentPairs
    deterministic_pairs: AgentPairs
    starts: Callable[[], Lines]
    replay: Replay | None
    sandbox: Sandbox
    progress: Callable[[str], None]
    earlier_looks: LookCounter
    identical_agents: tuple[IdenticalPlay, ...]
    opening_plies: tuple[int, int] | None
    duplicates: int
    excluded: tuple[Exclusion, ...]
    _judged: "dict[int, JudgedMoves]" = field(default_factory=dict, repr=False, compare=False)

    def match_between(self, winner: str, loser: str) -> Match | None:
        """Return the games of two agents, seen by the first; None if there are none."""
        a, b = (self.plan.names.index(name) for name in (winner, loser))
        for match in self.matches:
            if (match.a, match.b) == (a, b):
                return match
            if (match.a, match.b) == (b, a):
                return match.mirror()
        return None

    def judge_moves(self, last: int) -> "JudgedMoves":
        """Return the loss of every move from `last` beans in play on; 0 for the usual number."""
        from arena.analysis.move_losses.judge import judge_moves  # noqa: PLC0415  # the compiler

        if last not in self._judged:
            self._judged[last] = judge_moves(
                self.plan, self.parts, self.repeat, self.starts(), last, self.progress
            )
        return self._judged[last]

    def pieces(self) -> Iterator[tuple[int, Games]]:
        """Yield all games in pieces, each with the row of its first game."""
        at = 0
        for piece in rechunk_games(self.parts()):
            yield at, piece
            at += len(piece)

    def shortest_game(self, select: Select) -> int | None:
        """Return the row of the shortest selected game, the first of equals.

        Unplayed forfeits are returned only if there is no other game.
        """
        best: tuple[bool, int, int] | None = None
        for start, piece in self.pieces():
            unplayed = self.after_exclusion(start, piece)
            rows = np.flatnonzero(select(piece))
            for own in (rows[~unplayed[rows]], rows[unplayed[rows]]):
                if len(own):
                    row = int(own[np.argmin(piece.plies[own])])
                    each = bool(unplayed[row]), int(piece.plies[row]), start + row
                    best = each if best is None else min(best, each)
        return best and best[2]

    def after_exclusion(self, start: int, piece: Games) -> Flags:
        """Return which games of a piece an excluded bot forfeited unplayed."""
        losers = np.where(piece.result == LOSS, piece.first, piece.second)
        faults = ~fair_games(piece) & (piece.result != DRAW)
        since = exclusion_rows(self.excluded, self.plan.names)
        return np.asarray(faults & is_after_exclusion(losers, start + np.arange(len(piece)), since))

    def pair_of(self, row: int) -> tuple[Games, int]:
        """Return both games of a pair, and which of them has this row."""
        return self.load_pair(row // 2), row % 2

    def moves_of(self, row: int) -> Sequence[int] | None:
        """Return the moves of the game in a row; None if they are not known."""
        games, leg = self.pair_of(row)
        if games.moves is not None:
            return moves_of_game(games, leg)
        return self.replay and self.replay(row, games)

    def command_of(self, row: int) -> str | None:
        """Return the command that shows the game in a row; None if its moves are not known."""
        moves = self.moves_of(row)
        return None if moves is None else replay_command(self.plan.game, moves)

    def ending_text(self, row: int, agent: int) -> str:
        """Return how the game in a row ended for an agent that did not win it."""
        games, leg = self.pair_of(row)
        seat = 0 if games.first[leg] == agent else 1
        turn = SEATS[int(first_movers(games)[leg] != agent)]
        lead = f"{self.plan.names[agent]} moves {turn} and"
        how = Termination(int(games.termination[leg]))
        drawn = games.result[leg] == DRAW
        if how is Termination.RESIGNED and not drawn:
            return f"{lead} resigns"
        if not how.is_fair and not drawn:
            return f"{lead} forfeits ({how.name.lower()})"
        return f"{lead} {margin_text(0 if drawn else int(games.margin[leg]) * (1 - 2 * seat))}"


def evidence_of(
    plan: Plan,
    parts: GameParts,
    *,
    census: AgentPairs = (),
    deterministic: AgentPairs = (),
    starts: Callable[[], Lines] = lambda: ((),),
    replay: Replay | None = None,
    sandbox: Sandbox | None = None,
    progress: Callable[[str], None] = lambda _: None,
    earlier_looks: LookCounter = no_earlier_looks,
    opening_plies: Rows | None = None,  # of each opening
    excluded: tuple[Exclusion, ...] = (),
) -> Evidence:
    """Return the evidence of games in schedule order, both games of a pair together."""
    repeat, duplicate = (flag_repeats(parts(), keys) for keys in (repeat_keys, duplicate_keys))
    counter, timing, fair = MatchCounter(), TimingCounter(plan.names), FairGameCounter(plan.names)
    unearned, since = Counter[tuple[int, int]](), exclusion_rows(excluded, plan.names)
    finder, taken = DuplicateAgentFinder([*plan.agents.values()]), 0
    for piece, again in _pieces_with_repeats(parts, repeat):
        counter.take(piece, duplicate[taken : taken + len(piece)])
        unearned.update(wins_after_exclusion(piece, taken, since))
        taken += len(piece)
        timing.take(piece)
        fair.take(piece)
        finder.take(piece, again)
    matches = tuple(
        match._replace(unearned_wins=(unearned[match.a, match.b], unearned[match.b, match.a]))
        for match in counter.matches()
    )
    met = np.unique(np.concatenate([np.empty(0, np.int32), *(each.openings for each in matches)]))
    pieces = partial(_pieces_with_repeats, parts, repeat)
    plies = opening_plies[met] if opening_plies is not None and len(met) else None
    return Evidence(
        plan=plan,
        parts=parts,
        games=len(repeat),
        openings=len(met),
        repeat=repeat,
        matches=matches,
        timings=tuple(timing.rows()),
        faulty=fair.faulty(),
        keeps_moves=fair.keeps_moves,
        has_traces=fair.has_traces,
        load_pair=lru_cache(CACHED_PAIRS)(partial(load_pair, parts)),
        census_pairs=census,
        deterministic_pairs=deterministic,
        starts=starts,
        replay=replay,
        sandbox=sandbox or Sandbox(),
        progress=progress,
        earlier_looks=earlier_looks,
        identical_agents=finder.identical_agents(plan.game, pieces),
        opening_plies=None if plies is None else (int(plies.min()), int(plies.max())),
        duplicates=int(np.count_nonzero(duplicate)),
        excluded=excluded,
    )


def _pieces_with_repeats(parts: GameParts, repeat: Flags) -> Iterator[tuple[Games, Flags]]:
    at = 0
    for piece in rechunk_games(parts()):
        yield piece, repeat[at : at + len(piece)]
        at += len(piece)


def section_games(section: "Section", schedule: Schedule) -> GameParts:
    """Return a function that reads the games of a section, without search information."""
    return lambda: (
        replace(games, search_info={}) if games.search_info else games
        for _, _, games in section.games(schedule.pairs.columns)
    )


class FairGameCounter:
    """Notes which agents played a fair game, and what the games store."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.keeps_moves, self.has_traces = names, True, False
        self._played = np.zeros(len(names), np.bool_)
        self._fair = np.zeros(len(names), np.bool_)

    def take(self, games: Games) -> None:
        """Count more games."""
        fair = fair_games(games)
        for seat in (games.first, games.second):
            self._played[seat] = True
            self._fair[seat[fair]] = True
        self.keeps_moves &= games.moves is not None
        self.has_traces |= bool(games.traces)

    def faulty(self) -> frozenset[str]:
        """Return the agents that played, but never a game without a fault."""
        places = np.flatnonzero(self._played & ~self._fair).tolist()
        return frozenset(self.names[at] for at in places)


def load_pair(parts: GameParts, number: int) -> Games:
    """Return both games of a pair with everything that is stored of them."""
    row = 2 * number
    for part in parts():
        if row < len(part):
            return slice_games(part, row, row + 2)
        row -= len(part)
    raise IndexError(f"there is no pair {number}")


def margin_text(margin: int) -> str:
    """Return how an agent that does not win ends a game with this margin."""
    return "draws" if margin == 0 else f"loses by {-margin}"


def is_not_win(games: Games, agent: int, other: int) -> Flags:
    """Return which games an agent played against another and did not win."""
    first = (games.first == agent) & (games.second == other) & (games.result != WIN)
    second = (games.first == other) & (games.second == agent) & (games.result != LOSS)
    return np.asarray(first | second)


def is_forfeit_by(games: Games, agents: Sequence[int]) -> Flags:
    """Return which games one of these agents lost by its own fault."""
    losers = np.where(games.result == LOSS, games.first, games.second)
    faults = ~fair_games(games) & (games.result != DRAW)
    return np.asarray(faults & np.isin(losers, list(agents)))


def pair_scores_of(evidence: Evidence, match: Match, fair: bool) -> Iterator[NDArray[np.float64]]:
    """Yield the mean score of `match.a` in each of its pairs, piece by piece in schedule order.

    `fair` leaves out the pairs in which a game was forfeited.
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
