"""One Markdown page for the author of each bot."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.fault_text import fault_text
from arena.analysis.tables import EloRow
from arena.planning.games import Termination
from arena.report.data import FAULT_FREE, GameChunk, GameTable, ReportData
from arena.storage.run_log import BOT_LOGS, PLAIN
from games import Game
from games.base.errors import printable
from games.base.text import without_machine_paths
from games.transcripts import replay_command_for_line

MOST_LOST_GAMES = 3  # games to replay
MOST_LOG_CHARACTERS = 4000
NORMAL = Termination.NORMAL.name.lower()


class LostGame(NamedTuple):
    """A game from the side of its loser; short games come first."""

    plies: int
    row: int
    opponent: int


class Fault(NamedTuple):
    """A kind of fault by which an agent lost: the number of games, and the first one."""

    times: int
    first: LostGame


class AgentResults:
    """The results of each agent in a run, by its place in the game table."""

    def __init__(self, games: GameTable) -> None:
        self.games = games
        size = len(games.names)
        self.scores = np.zeros((size, size, 3), np.int64)  # won, drawn and lost by the first
        self.faults: list[dict[int, Fault]] = [{} for _ in range(size)]  # by the game's ending
        self.lost: list[list[LostGame]] = [[] for _ in range(size)]
        for start, chunk in games.chunks_with_rows():
            self._add(start, chunk)

    def _add(self, start: int, chunk: GameChunk) -> None:
        outcomes = np.rint(2 * (1.0 - chunk.result)).astype(np.int64)
        np.add.at(self.scores, (chunk.first, chunk.second, outcomes), 1)
        np.add.at(self.scores, (chunk.second, chunk.first, 2 - outcomes), 1)
        unplayed = self.games.exclusion_forfeits(chunk, start + np.arange(len(outcomes)))
        rows = np.flatnonzero((outcomes != 1) & ~unplayed)
        decided = chunk.take(rows)
        lost = decided.result == 0.0
        columns = (
            np.where(lost, decided.first, decided.second),
            np.where(lost, decided.second, decided.first),
            start + rows, decided.plies, decided.ending,
        )  # fmt: skip
        for loser, opponent, row, plies, ending in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            game, word = LostGame(plies, row, opponent), self.games.endings[ending]
            if word == NORMAL:
                self.lost[loser] = sorted([*self.lost[loser], game])[:MOST_LOST_GAMES]
            elif word not in FAULT_FREE:
                fault = self.faults[loser].get(ending, Fault(0, game))
                self.faults[loser][ending] = fault._replace(times=fault.times + 1)


def bot_report(report: ReportData, results: AgentResults, own: EloRow, log: str) -> str:
    """Return the page of the agent in a row of the ratings; `log` is the log of its faults."""
    game, names = report.plan.game, results.games.names
    agent = names.index(own.agent)
    times = [row.longest_move for row in report.timings if row.agent == own.agent]
    lines = [f"# {escape_markdown(own.agent)}", "",
             f"{game.name}: place {own.rank} of {len(names)}, "
             f"{own.points:g} points of {own.games} games.", ""]  # fmt: skip
    if measured := [each for each in times if each is not None]:
        lines += [f"Its longest move took {max(measured):.3f} s.", ""]
    lines += ["| against | games | won | drawn | lost |", "|---|---|---|---|---|"]
    for name, counts in zip(names, results.scores[agent].tolist(), strict=True):
        if sum(counts):
            cells = " | ".join(map(str, (escape_markdown(name), sum(counts), *counts)))
            lines.append(f"| {cells} |")
    exclusion = next((each.line for each in report.exclusions if each.agent == own.agent), "")
    exclusion = without_machine_paths(exclusion, report.experiment_directory)
    lines += ["", *_fault_lines(game, results, agent, exclusion)]
    lines += _lost_game_lines(game, results, agent)
    if log:
        text = log[:MOST_LOG_CHARACTERS].rstrip()
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        lines += ["## Log of its faults", "", f"{fence}text", text, fence, ""]
    return "\n".join(lines)


def _fault_lines(game: Game, results: AgentResults, agent: int, exclusion: str) -> Iterator[str]:
    """Return each kind of fault with its number and first game, and the exclusion."""
    faults = results.faults[agent].items()
    if not faults and not exclusion:
        yield from ("It lost no game by a fault.", "")
        return
    yield from ("## Faults", "")
    for ending, fault in sorted(faults, key=lambda each: (-each[1].times, each[1].first.row)):
        word = results.games.endings[ending]
        times = "once" if fault.times == 1 else f"{fault.times} times"
        first = _game_reference(game, results, fault.first)
        yield f"- {fault_text(word, '')} ({word}), {times}; first {first}"
    if exclusion:
        yield f"- {escape_markdown(exclusion)}"
    yield ""


def _lost_game_lines(game: Game, results: AgentResults, agent: int) -> Iterator[str]:
    """Return the shortest games that an agent lost by the rules."""
    if results.lost[agent] and results.games.texts("moves", []) is not None:
        yield from ("## Lost games", "")
        yield from (f"- {_game_reference(game, results, each)}" for each in results.lost[agent])
        yield ""


def _game_reference(game: Game, results: AgentResults, lost: LostGame) -> str:
    """Return the number of a game, and the command that shows it."""
    reference = f"game {lost.row}, against {escape_markdown(results.games.names[lost.opponent])}"
    moves = (results.games.texts("moves", [lost.row]) or [None])[0]
    if not moves:
        return reference
    command = replay_command_for_line(game, moves)
    if game.source is not None:  # bot authors do not have the file at the same path
        command = command.replace(os.path.relpath(game.source), game.source.name)
    return f"{reference}: `{command}`"


def escape_markdown(name: str) -> str:
    """Escape a name for a table cell or a heading."""
    return re.sub(r"([|`*_<>\\])", r"\\\1", printable(name))


def file_name(names: Sequence[str], agent: int) -> str:
    """Return a safe file name for an agent."""
    return f"{agent + 1}-{PLAIN.sub('_', names[agent])}"


def fault_log(directory: Path, names: Sequence[str], agent: int) -> str:
    """Return the log of an agent's faults; empty if there is none."""
    path = directory / BOT_LOGS / f"{file_name(names, agent)}.log"
    return path.read_text(errors="replace") if path.is_file() else ""
