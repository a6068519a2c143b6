"""One Markdown page per bot author."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.fault_text import fault_text
from arena.analysis.tables import EloRow
from arena.analysis.timings import Timing
from arena.planning.games import Termination
from arena.report.data import GameChunk, GameTable, ReportData
from arena.storage.run_log import BOT_LOGS, PLAIN
from games import Game
from games.base.errors import printable
from games.base.machine_paths import without_machine_paths
from games.transcripts import replay_command_for_line

MOST_LOST = 3  # games to replay
MOST_LOG = 4000  # characters
NORMAL = Termination.NORMAL.name.lower()


class LostGame(NamedTuple):
    """A game as its loser sees it; those of few plies come first."""

    plies: int
    row: int
    opponent: int


class Fault(NamedTuple):
    """How an agent lost games by a fault: how often, and the first of them."""

    times: int
    first: LostGame


class AgentResults:
    """What the games of a run came to for each agent, summed up as they are read."""

    def __init__(self, games: GameTable) -> None:
        """Read all of them, some at a time."""
        self.games = games
        size = len(games.names)
        self.scores = np.zeros((size, size, 3), np.int64)  # won, drawn and lost by the first
        self.faults: list[dict[int, Fault]] = [{} for _ in range(size)]  # by how they ended
        self.lost: list[list[LostGame]] = [[] for _ in range(size)]
        self._normal = [place for place, word in enumerate(games.endings) if word == NORMAL]
        for row, piece in games.numbered():
            self._take(row, piece)

    def _take(self, start: int, piece: GameChunk) -> None:
        """Take the games from row `start` on."""
        ways = np.rint(2 * (1.0 - piece.result)).astype(np.int64)
        np.add.at(self.scores, (piece.first, piece.second, ways), 1)
        np.add.at(self.scores, (piece.second, piece.first, 2 - ways), 1)
        beaten = np.flatnonzero(ways != 1)
        unplayed = self.games.unplayed(piece, start + np.arange(len(ways)))
        normal = np.isin(piece.ending[beaten], self._normal)
        unfair = ~self.games.fair(piece)[beaten]
        self._lose(start, piece, beaten[normal])
        self._fail(start, piece, beaten[unfair & ~unplayed[beaten]])

    def _lose(self, start: int, piece: GameChunk, rows: NDArray[np.int64]) -> None:
        """Keep the shortest games that each agent lost by the rules."""
        loser = losing_agents(piece, rows)
        order = np.lexsort((rows, piece.plies[rows], loser))
        agents, first = np.unique(loser[order], return_index=True)
        for agent, at in zip(agents.tolist(), first.tolist(), strict=True):
            own = [rows[each] for each in order[at : at + MOST_LOST] if loser[each] == agent]
            games = [lost_game(piece, row, start, agent) for row in own]
            self.lost[agent] = sorted([*self.lost[agent], *games])[:MOST_LOST]

    def _fail(self, start: int, piece: GameChunk, rows: NDArray[np.int64]) -> None:
        """Count the played games that each agent lost by a fault, by how they ended."""
        kinds = max(1, len(self.games.endings))
        codes = losing_agents(piece, rows) * kinds + piece.ending[rows]
        found, first, counts = np.unique(codes, return_index=True, return_counts=True)
        for code, at, count in zip(found.tolist(), first, counts.tolist(), strict=True):
            agent, how = divmod(code, kinds)
            game = lost_game(piece, rows[at], start, agent)
            before = self.faults[agent].get(how, Fault(0, game))
            self.faults[agent][how] = before._replace(times=before.times + count)


def losing_agents(piece: GameChunk, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Who lost the games in these rows, none of which is a draw."""
    return np.where(piece.result[rows] == 0.0, piece.first[rows], piece.second[rows])


def lost_game(piece: GameChunk, row: int, start: int, agent: int) -> LostGame:
    """A game of a piece that begins in row `start` of all, as an agent sees it."""
    first, second = int(piece.first[row]), int(piece.second[row])
    return LostGame(int(piece.plies[row]), start + int(row), second if agent == first else first)


def handout(report: ReportData, stored: AgentResults, own: EloRow, log: str) -> str:
    """The page of the agent of this row of the report; `log` is kept of its faults."""
    of, names = report.plan.of, stored.games.names
    assert of is not None  # a run has a game
    agent, longest = names.index(own.agent), longest_thought(report.timings, own.agent)
    lines = [f"# {escape_markdown(own.agent)}", "",
             f"{of.name}: place {own.rank} of {len(names)}, "
             f"{own.points:g} points of {own.games} games.", ""]  # fmt: skip
    if longest is not None:
        lines += [f"Its longest thought took {longest:.3f} s.", ""]
    lines += ["| against | games | won | drawn | lost |", "|---|---|---|---|---|"]
    for name, counts in zip(names, stored.scores[agent].tolist(), strict=True):
        if sum(counts):
            lines.append(
                f"| {escape_markdown(name)} | {sum(counts)} | {' | '.join(map(str, counts))} |"
            )
    out = next((each for each in report.excluded if each.agent == own.agent), None)
    reason = "" if out is None else without_machine_paths(out.line, report.base)
    lines += ["", *faults(of, stored, agent, reason), *lost_game_lines(of, stored, agent)]
    if log:
        kept = log[:MOST_LOG].rstrip()
        lines += ["## What is kept of its faults", "", "```text", kept, "```", ""]
    return "\n".join(lines)


def faults(of: Game, stored: AgentResults, agent: int, exclusion: str = "") -> list[str]:
    """Its faults, each kind once: how often, and the first game in which it happened.

    `exclusion` says why the run excluded it, and how many games it forfeited unplayed.
    """
    found = sorted(
        stored.faults[agent].items(), key=lambda each: (-each[1].times, each[1].first.row)
    )
    if not found and not exclusion:
        return ["It lost no game by a fault.", ""]
    lines = ["## Faults", ""]
    for how, fault in found:
        first = game_reference(of, stored, fault.first)
        word = stored.games.endings[how]
        times = "once" if fault.times == 1 else f"{fault.times} times"
        lines.append(f"- {fault_text(word, '')} ({word}), {times}; first {first}")
    lines += [f"- {escape_markdown(exclusion)}"] if exclusion else []
    return [*lines, ""]


def lost_game_lines(of: Game, stored: AgentResults, agent: int) -> list[str]:
    """Some games that it lost by the rules, the shortest first."""
    beaten = stored.lost[agent]
    if not beaten or stored.games.texts("moves", []) is None:
        return []
    return ["## Lost games", "", *(f"- {game_reference(of, stored, each)}" for each in beaten), ""]


def game_reference(of: Game, stored: AgentResults, game: LostGame) -> str:
    """Which game it was, and the command that shows it."""
    words = f"game {game.row}, against {escape_markdown(stored.games.names[game.opponent])}"
    moves = (stored.games.texts("moves", [game.row]) or [None])[0]
    if not moves:
        return words
    command = replay_command_for_line(of, moves)
    if of.source is not None:  # where it lies is known to its author alone
        command = command.replace(os.path.relpath(of.source), of.source.name)
    return f"{words}: `{command}`"


def escape_markdown(name: str) -> str:
    """A name as a cell of a table, or a heading, can hold it."""
    return re.sub(r"([|`*_<>\\])", r"\\\1", printable(name))


def file_name(names: Sequence[str], agent: int) -> str:
    """A name for a file about an agent that no name of an agent can spoil."""
    return f"{agent + 1}-{PLAIN.sub('_', names[agent])}"


def longest_thought(rows: Sequence[Timing], name: str) -> float | None:
    """Seconds of an agent's longest move; None where moves were not timed one by one."""
    own = [row.longest_move for row in rows if row.agent == name and row.longest_move is not None]
    return max(own, default=None)


def fault_log(directory: Path, names: Sequence[str], agent: int) -> str:
    """What is kept of an agent's faults; empty if there were none."""
    path = directory / BOT_LOGS / f"{file_name(names, agent)}.log"
    return path.read_text(errors="replace") if path.is_file() else ""
