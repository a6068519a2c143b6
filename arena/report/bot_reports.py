"""One page for the author of each bot: its place, its faults, and its lost games on the board."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.fault_text import fault_text
from arena.analysis.tables import EloRow
from arena.planning.games import Termination
from arena.report.data import FAULT_FREE, GameChunk, GameTable, ReportData
from arena.report.document import document
from arena.report.figure import FigureTable, empty_paragraph, section, table_html
from arena.report.games import games_json, games_parts
from arena.report.html import Html, Inside, isolate, join, name_of, tag
from arena.report.numbers import count, points
from arena.storage.run_log import BOT_LOGS, PLAIN
from games.base.text import without_machine_paths

MOST_LOST_GAMES = 5  # games to replay
MOST_LOG_CHARACTERS = 4000
# An entry of a log of faults, and the line of code in the text of a fault.
KINDS = "|".join(how.name.lower() for how in Termination)
FAULT = re.compile(rf"^game (\d+), against .*?: ({KINDS}): (.*)$", re.MULTILINE)
CODE = re.compile(r"(, line \d+ of [^\s:]+): .*")
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


def bot_report(
    report: ReportData,
    results: AgentResults,
    own: EloRow,
    log: str,
    *,
    more: Sequence[Html | None] = (),
    is_public: bool = False,
) -> str:
    """Return the page of the agent in a row of the ratings; `log` is the log of its faults.

    A public page has neither the log nor code. `more` follows the place.
    """
    game, names = report.plan.game, results.games.names
    agent = names.index(own.agent)
    times = [row.longest_move for row in report.timings if row.agent == own.agent]
    measured = [each for each in times if each is not None]
    longest = f"Its longest move took {max(measured):.3f} s." if measured else ""
    place = f"Place {own.rank} of {len(names)}"
    noun = "point" if own.points == 1 else "points"
    line = f"{points(own.points)} {noun} of {count(own.games)} games at {game.name}. {longest}"
    rows = lost_rows(results, agent)
    header = tag(
        "header",
        tag("h1", name_of(own.agent)),
        tag("p", place, class_="answer"),
        tag("p", line, class_="sure"),
        *more,
    )
    sections = [
        header,
        _faults_section(report, results, own.agent, log, is_public),
        section("Lost games", *games_parts(lost_lead(rows)), name="games"),
        _opponents_section(results, agent),
    ]
    if log and not is_public:
        text = log[:MOST_LOG_CHARACTERS].rstrip()
        sections.append(section("Log of its faults", tag("pre", text, tabindex=0)))
    data = games_json(report, np.array(rows, np.int64), is_public=True)
    return document(f"{isolate(own.agent)} \u00b7 {game.name}", join(sections), data=data)


def lost_rows(results: AgentResults, agent: int) -> list[int]:
    """Return the first game of each fault and the shortest games lost by the rules."""
    faults = [each.first for each in results.faults[agent].values() if each.first.plies]
    return sorted({each.row for each in (*faults, *results.lost[agent])})


def lost_lead(rows: Sequence[int]) -> str:
    """Return the sentence above the lost games."""
    if not rows:
        return "There is no lost game to show."
    return "The first game of each fault, and the shortest games that it lost by the rules."


def _opponents_section(results: AgentResults, agent: int) -> Html:
    names = results.games.names
    rows = [
        (name_of(name), *map(count, (sum(counts), *counts)))
        for name, counts in zip(names, results.scores[agent].tolist(), strict=True)
        if sum(counts)
    ]
    table = FigureTable(("against", "games", "won", "drawn", "lost"), tuple(rows))
    return section("Opponents", table_html(table, "Results against each opponent"))


def _faults_section(
    report: ReportData, results: AgentResults, name: str, log: str, is_public: bool
) -> Html:
    """Return each kind of fault with its number, its first error and its first game."""
    faults = results.faults[results.games.names.index(name)].items()
    exclusion = next((each.line for each in report.exclusions if each.agent == name), "")
    if not faults and not exclusion:
        return section("Faults", empty_paragraph("It lost no game by a fault."))
    clean = partial(without_machine_paths, base=report.experiment_directory)
    errors, rows = first_errors(log), []
    for ending, fault in sorted(faults, key=lambda each: (-each[1].times, each[1].first.row)):
        word, number = results.games.endings[ending], fault.first.row
        error = clean(errors.get((number, word)) or fault_text(word, ""))
        error = without_code(error) if is_public else error
        shown: Inside = count(number)
        if fault.first.plies:
            shown = tag("a", shown, href=f"#game={number}")
        rows.append((word, error, count(fault.times), shown))
    table = FigureTable(("fault", "the first error", "games", "first game"), tuple(rows), 2)
    wide = table_html(table, "Faults by kind", "faults") if rows else None
    end = clean(without_code(exclusion) if is_public else exclusion)
    return section("Faults", wide, tag("p", end, class_="note") if end else None)


def first_errors(log: str) -> dict[tuple[int, str], str]:
    """Return the errors in a log of faults, by game and kind of fault."""
    return {(int(at), word): text for at, word, text in FAULT.findall(log)}


def without_code(text: str) -> str:
    """Return the text of a fault with the line number, but without the code of that line."""
    return CODE.sub(r"\1", text)


def file_name(names: Sequence[str], agent: int) -> str:
    """Return a safe file name for an agent."""
    return f"{agent + 1}-{PLAIN.sub('_', names[agent])}"


def fault_log(directory: Path, names: Sequence[str], agent: int) -> str:
    """Return the log of an agent's faults; empty if there is none."""
    path = directory / BOT_LOGS / f"{file_name(names, agent)}.log"
    return path.read_text(errors="replace") if path.is_file() else ""
