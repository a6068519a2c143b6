"""What checks may look at: the games of a run, who met whom, and how to see a game again."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from arena.concluding.evidence import Match, Rows
from arena.planning.plan import Plan
from arena.planning.records import DRAW, Games, Termination, moves_of
from arena.reading.file_tables import CheckTable
from games import Game
from games.transcripts import move_texts

SEATS = ("first", "second")

Replay = Callable[[int], Sequence[int]]
Lines = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Case:
    """What checks may look at: the games of a run and how to see one of them again.

    `starts` gives the openings in move numbers; `replay` gives the moves of the game in a row,
    None if they are unknown where they were not kept.
    """

    plan: Plan
    games: Games
    matches: Sequence[Match]
    census: Collection[tuple[str, str]]
    starts: Callable[[], Lines]
    replay: Replay | None

    @property
    def names(self) -> tuple[str, ...]:
        """The agents by place."""
        return self.plan.names

    def about(self, check: CheckTable) -> list[str]:
        """The agents that a claim on single agents is about."""
        return list(self.names) if check.subject == "all" else [str(check.subject)]

    def between(self, check: CheckTable) -> Match | None:
        """The games of "A beats B", seen by A; None if there are none."""
        winner, loser = (self.names.index(name) for name in check.parties or ())
        for match in self.matches:
            if (match.a, match.b) == (winner, loser):
                return match
            if (match.a, match.b) == (loser, winner):
                return match.mirrored()
        return None

    def shortest(self, rows: Rows) -> int:
        """The row of the shortest of some games, the first of equals."""
        ordered = np.sort(rows)
        return int(ordered[np.argmin(self.games.plies[ordered])])

    def command(self, row: int) -> str | None:
        """The command that shows the game in a row; None if its moves are lost."""
        if self.games.moves is not None:
            return replay_command(self.plan.of, moves_of(self.games, row))
        return self.replay and replay_command(self.plan.of, self.replay(row))


def replay_command(of: Game, moves: Sequence[int]) -> str:
    """The command that shows a game move by move."""
    return f'python -m games.replay "{of.name}" "{" ".join(move_texts(of, moves))}"'


def ended(case: Case, row: int, agent: int) -> str:
    """How one game ended for an agent."""
    games = case.games
    seat = 0 if games.first[row] == agent else 1
    lead = f"{case.names[agent]} moves {SEATS[seat]} and"
    how = Termination(int(games.termination[row]))
    if how is not Termination.NORMAL and games.result[row] != DRAW:
        return f"{lead} forfeits ({how.name.lower()})"
    drawn = games.result[row] == DRAW
    return f"{lead} {ending(0 if drawn else int(games.margin[row]) * (1 - 2 * seat))}"


def ending(margin: int) -> str:
    """What an agent that does not win does, its score being so much above the other's."""
    return "draws" if margin == 0 else f"loses by {-margin}"
