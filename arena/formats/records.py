"""Games and tables of a run as writers of other formats get them: plain values and texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape

import numpy as np

from arena.analysis.exclusions import EXCLUDED
from arena.analysis.standings import PointsRow
from arena.analysis.tables import EloRow, WinRateRow
from arena.analysis.timings import Timing
from arena.planning.games import GameColumn
from arena.report.data import GameChunk, GameTable, ReportData
from arena.report.figures.matrix import wdl_text
from arena.report.figures.registry import make_figures
from arena.report.html import Html, Inside
from arena.report.methods import moment
from arena.report.numbers import bare_share, cell_ends, score_of
from arena.stats.sprt import SprtPlan
from arena.storage.parquet import read_columns
from arena.storage.provenance import agent_versions
from arena.storage.run_file import GAMES
from games import Game
from games.base.errors import UserError

AT_ONCE = 20_000  # games whose moves are read together
RANKED = ("elo", "points")  # tables of agents in the official order
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game; `result` are points of `first`, `margin` its score minus that of `second`.

    `first_mover` is the one of them to move after the opening.
    """

    experiment: str
    run: str
    date: str  # of the run's end, such as 2026.11.19
    of: Game
    number: int
    pair: int
    leg: int
    first: str
    second: str
    first_mover: str
    result: float
    margin: int
    plies: int
    opening: int
    opening_moves: str
    moves: tuple[str, ...]
    ending: str
    seed: int  # of the pair
    versions: tuple[str, str]  # fingerprints of both agents, empty if they are not known
    elos: tuple[float | None, float | None] = (None, None)  # of both, where the run has ratings
    stop_rule: str = ""  # the test that could end the run before its last game


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; so many columns from the left are `words`, the others numbers."""

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1


@dataclass(frozen=True)
class _RunFacts:
    """What the games of a run have in common."""

    experiment: str
    run: str
    date: str
    of: Game
    seeds: GameColumn  # of every game's pair
    versions: Mapping[str, str]  # by agent
    elos: Mapping[int, float]  # by the place of an agent
    stop_rule: str


def _facts(report: ReportData) -> _RunFacts:
    ended = moment(report, "finished")
    assert report.directory is not None  # only runs are exported
    return _RunFacts(
        experiment=str(report.summary["experiment"]),
        run=str(report.run.get("digest", "")),
        date="????.??.??" if ended is None else f"{ended:%Y.%m.%d}",
        of=report.plan.of,
        seeds=read_columns(report.directory / GAMES, ["seed"])["seed"],
        versions=agent_versions(report.run),
        elos=ratings_by_agent(report),
        stop_rule=stop_rule_text(report.plan.stop),
    )


def stop_rule_text(test: SprtPlan | None) -> str:
    """Return the sequential test of a run in one phrase; empty without one."""
    if test is None:
        return ""
    elo = f"[{test.elo0:g}, {test.elo1:g}] {test.model} Elo"
    return f"SPRT {elo}, alpha {test.alpha:g}, beta {test.beta:g}"


def game_records(report: ReportData) -> Iterator[GameRecord]:
    """All games in schedule order; a UserError if their moves were not kept."""
    games, facts = report.games, _facts(report)
    for begin in range(0, games.size, AT_ONCE):
        rows = range(begin, min(begin + AT_ONCE, games.size))
        some = games.at(np.array(rows))
        lines, openings = (games.texts(name, rows) for name in ("moves", "opening_moves"))
        if lines is None or openings is None:
            raise UserError(
                f"{report.directory} keeps no moves: play it again with keep_moves = true"
            )
        for at, (row, line, opening) in enumerate(zip(rows, lines, openings, strict=True)):
            yield _exported_game(games, facts, row, some.at(np.array([at])), (opening, line))


def _exported_game(
    games: GameTable,
    facts: _RunFacts,
    row: int,
    one: GameChunk,
    texts: tuple[str | None, str | None],
) -> GameRecord:
    """The game in a row of the table; `texts` are its opening and all of its moves."""
    places = int(one.first[0]), int(one.second[0])
    first, second = (games.names[place] for place in places)
    return GameRecord(
        experiment=facts.experiment,
        run=facts.run,
        date=facts.date,
        of=facts.of,
        number=row,
        pair=int(one.pair[0]),
        leg=row % 2,
        first=first,
        second=second,
        first_mover=games.names[int(one.mover[0])],
        result=float(one.result[0]),
        margin=int(one.margin[0]),
        plies=int(one.plies[0]),
        opening=int(one.opening[0]),
        opening_moves=texts[0] or "",
        moves=tuple(facts.of.notation.split(texts[1] or "")),
        ending=games.endings[int(one.ending[0])],
        seed=int(facts.seeds[row]),
        versions=(facts.versions.get(first, ""), facts.versions.get(second, "")),
        elos=(facts.elos.get(places[0]), facts.elos.get(places[1])),
        stop_rule=facts.stop_rule,
    )


def ratings_by_agent(report: ReportData) -> dict[int, float]:
    """The ratings by the places of the agents; none where there is a standing."""
    names, rows = report.games.names, () if report.standing else report.ratings
    return {names.index(row.agent): row.elo for row in rows if row.elo is not None}


def stored_tables(report: ReportData) -> list[TextTable]:
    """The run's tables, column by column, and the matrix of scores."""
    kinds: Sequence[tuple[str, type, Sequence[tuple[Cell, ...]]]] = (
        ("elo", EloRow, report.ratings),
        ("win_rates", WinRateRow, list(report.pairs.values())),
        ("timings", Timing, report.timings),
        ("points", PointsRow, report.points),
    )
    tables = [
        TextTable(name, name, tuple(kind._fields), tuple(tuple(row) for row in rows))  # type: ignore[attr-defined]  # they are NamedTuples
        for name, kind, rows in kinds
    ]
    tables = [_marked(report, each) if each.name in RANKED else each for each in tables]
    if not report.points:  # the experiment does not rank by points
        tables = [table for table in tables if table.name != "points"]
    names = report.agents
    matrix = tuple((name, *(_score(report, name, other) for other in names)) for name in names)
    return [*tables, TextTable("matrix", "scores", ("agent", *names), matrix)]


def _marked(report: ReportData, table: TextTable) -> TextTable:
    """The table with a last column that marks the bots that the run excluded."""
    at, out = table.head.index("agent"), report.excluded_names
    rows = tuple((*row, EXCLUDED if row[at] in out else "") for row in table.rows)
    return replace(table, head=(*table.head, EXCLUDED), rows=rows)


def _score(report: ReportData, name: str, other: str) -> float | None:
    row = report.pairs.get((name, other))
    return None if row is None else row.score


def figure_tables(report: ReportData) -> list[TextTable]:
    """The tables behind the figures, as people read them, and the matrix."""
    rule, tables = stop_rule_text(report.plan.stop), []
    note = f" (a test could end the games, which intervals ignore: {rule})" if rule else ""
    for name, figure in make_figures(report).items():
        if figure.table is None:
            continue
        kept = [place for place, head in enumerate(figure.table.head) if head]
        rows = tuple(tuple(strip_markup(row[place]) for place in kept) for row in figure.table.rows)
        head = tuple(figure.table.head[place] for place in kept)
        own = "pairs" if name == "matrix" else name
        tables.append(TextTable(own, figure.heading + note, head, rows, figure.table.words))
    names = report.agents
    matrix = tuple((name, *(_cell(report, name, other) for other in names)) for name in names)
    heading = f"Points won by the row's agent, in per cent, with the interval{note}"
    return [*tables, TextTable("matrix", heading, ("agent", *names), matrix)]


def _cell(report: ReportData, name: str, other: str) -> str:
    row = report.pairs.get((name, other))
    if row is None:
        return ""
    known = score_of(row)
    if known.value is None or not known.measured:
        return wdl_text(row)
    return f"{bare_share(known.value)} ({cell_ends(known)})"


def strip_markup(cell: Inside) -> str:
    """A cell of a page as text."""
    if isinstance(cell, Html):
        return unescape(re.sub(r"<[^>]*>", "", cell))
    return "" if cell is None else str(cell)
