"""Games and tables of a run as writers of other formats get them: plain values and texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

import numpy as np

from arena.concluding.points_table import PointsRow
from arena.concluding.table_rows import EloRow, WinRateRow
from arena.concluding.timing import Timing
from arena.showing.figures import figures
from arena.showing.figures.matrix import won_drawn_lost
from arena.showing.html import Html, Inside
from arena.showing.numbers import bare_share, cell_ends, score_of
from arena.showing.report.method import moment
from arena.showing.report_contents import Report
from games import Game
from games.terminal import Mistake

AT_ONCE = 20_000  # games whose moves are read together
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class ExportedGame:
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
    elos: tuple[float | None, float | None] = (None, None)  # of both, where the run has ratings


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """A table; so many columns from the left are `words`, the others numbers."""

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1


def exported_games(report: Report) -> Iterator[ExportedGame]:
    """All games in schedule order; a Mistake if their moves were not kept."""
    games, of = report.games, report.plan.of
    assert of is not None  # a run has a game
    ended = moment(report, "finished")
    known = elos_of(report)
    date = "????.??.??" if ended is None else f"{ended:%Y.%m.%d}"
    for begin in range(0, games.size, AT_ONCE):
        rows = range(begin, min(begin + AT_ONCE, games.size))
        some = games.at(np.array(rows))
        lines, openings = (games.texts(name, rows) for name in ("moves", "opening_moves"))
        if lines is None or openings is None:
            raise Mistake(
                f"{report.directory} keeps no moves: play it again with keep_moves = true"
            )
        for at, (row, line, opening) in enumerate(zip(rows, lines, openings, strict=True)):
            yield ExportedGame(
                experiment=str(report.summary["experiment"]),
                run=str(report.run.get("digest", "")),
                date=date,
                of=of,
                number=row,
                pair=int(some.pair[at]),
                leg=row % 2,
                first=games.names[some.first[at]],
                second=games.names[some.second[at]],
                first_mover=games.names[some.mover[at]],
                result=float(some.result[at]),
                margin=int(some.margin[at]),
                plies=int(some.plies[at]),
                opening=int(some.opening[at]),
                opening_moves=opening or "",
                moves=tuple(of.notation.split(line or "")),
                ending=games.endings[some.ending[at]],
                elos=(known.get(some.first[at]), known.get(some.second[at])),
            )


def elos_of(report: Report) -> dict[int, float]:
    """The ratings by the places of the agents; none where there is a standing."""
    names, rows = report.games.names, () if report.standing else report.ratings
    return {names.index(row.agent): row.elo for row in rows if row.elo is not None}


def raw_tables(report: Report) -> list[ExportedTable]:
    """The run's tables, column by column, and the matrix of scores."""
    kinds: Sequence[tuple[str, type, Sequence[tuple[Cell, ...]]]] = (
        ("elo", EloRow, report.ratings),
        ("win_rates", WinRateRow, list(report.pairs.values())),
        ("timings", Timing, report.timings),
        ("points", PointsRow, report.points),
    )
    tables = [
        ExportedTable(name, name, tuple(kind._fields), tuple(tuple(row) for row in rows))  # type: ignore[attr-defined]  # they are NamedTuples
        for name, kind, rows in kinds
    ]
    if not report.points:  # the experiment does not rank by points
        tables = [table for table in tables if table.name != "points"]
    names = report.agents
    matrix = tuple((name, *(_score(report, name, other) for other in names)) for name in names)
    return [*tables, ExportedTable("matrix", "scores", ("agent", *names), matrix)]


def _score(report: Report, name: str, other: str) -> float | None:
    row = report.pairs.get((name, other))
    return None if row is None else row.score


def read_tables(report: Report) -> list[ExportedTable]:
    """The tables behind the figures, as people read them, and the matrix."""
    tables = []
    for name, figure in figures(report).items():
        if figure.table is None:
            continue
        kept = [place for place, head in enumerate(figure.table.head) if head]
        rows = tuple(tuple(plain(row[place]) for place in kept) for row in figure.table.rows)
        head = tuple(figure.table.head[place] for place in kept)
        own = "pairs" if name == "matrix" else name
        tables.append(ExportedTable(own, figure.heading, head, rows, figure.table.words))
    names = report.agents
    matrix = tuple((name, *(_cell(report, name, other) for other in names)) for name in names)
    heading = "Points won by the row's agent, in per cent, with the interval"
    return [*tables, ExportedTable("matrix", heading, ("agent", *names), matrix)]


def _cell(report: Report, name: str, other: str) -> str:
    row = report.pairs.get((name, other))
    if row is None:
        return ""
    known = score_of(row)
    if report.standing or known.value is None:
        return won_drawn_lost(row)
    return f"{bare_share(known.value)} ({cell_ends(known)})"


def plain(cell: Inside) -> str:
    """A cell of a page as text."""
    if isinstance(cell, Html):
        return unescape(re.sub(r"<[^>]*>", "", cell))
    return "" if cell is None else str(cell)
