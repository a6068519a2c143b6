"""Write the games and tables of a run in other formats."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import ModuleType

import numpy as np

from arena.analysis.evidence import EXCLUDED
from arena.analysis.standings import PointsRow
from arena.analysis.tables import EloRow, WinRateRow
from arena.analysis.timings import Timing
from arena.formats.records import Cell, GameRecord, TextTable
from arena.formats.registry import format_writer
from arena.report.data import ReportData
from arena.report.figures.matrix import match_numbers, wdl_text
from arena.report.figures.registry import make_figures
from arena.report.html import Html, Inside
from arena.report.methods import timestamp
from arena.report.numbers import bare_share, cell_ends, has_interval, score_of
from arena.stats.stopping import StopPlan, WidthPlan
from arena.storage.game_table import SEARCH_INFO, SEARCH_INFO_COLUMNS
from arena.storage.parquet import iter_rows, read_columns
from arena.storage.provenance import agent_versions
from arena.storage.run_file import GAMES
from games.base.errors import UserError
from games.base.files import atomic_write, write_text

AT_ONCE = 20_000  # games whose moves are read together
RANKED = ("elo", "points")  # tables of agents, in which excluded bots are marked


def write_games(report: ReportData, name: str, directory: Path) -> Path:
    """Write all games in one format; raise a UserError if the format cannot hold them."""
    writer = format_writer(name, "games")
    if hasattr(writer, "refusal") and (reason := writer.refusal(report.plan.game)):
        raise UserError(reason)
    path = directory / f"games{writer.SUFFIX}"
    with atomic_write(path) as file:
        file.write(getattr(writer, "HEAD", "").encode())
        for record in game_records(report):
            file.write(writer.game_text(record).encode("utf-8", "replace"))
    return path


def table_texts(report: ReportData, name: str) -> dict[str, str]:
    """Return the tables of the page in one format, by their names."""
    writer = format_writer(name, "tables")
    tables = result_tables(report) if writer.RAW else figure_tables(report)
    return {table.name: writer.table_text(table) for table in tables}


def write_tables(report: ReportData, name: str, directory: Path) -> list[Path]:
    """Write all tables in one format."""
    writer = format_writer(name, "tables")
    paths = []
    for own, text in table_texts(report, name).items():
        path = directory / f"{own}{writer.SUFFIX}"
        write_text(path, text.encode("utf-8", "replace").decode())
        paths.append(path)
    if writer.RAW and report.directory is not None and (report.directory / SEARCH_INFO).exists():
        paths.append(_write_search_info(report.directory / SEARCH_INFO, writer, directory))
    return paths


def _write_search_info(table: Path, writer: ModuleType, directory: Path) -> Path:
    # There may be a row for every move: write some rows at a time.
    path, head = directory / f"thoughts{writer.SUFFIX}", tuple(SEARCH_INFO_COLUMNS)
    with atomic_write(path) as file:
        file.write(writer.table_text(TextTable("thoughts", "", head, ())).encode())
        for columns in iter_rows(table, head):
            rows = tuple(zip(*(columns[name] for name in head), strict=True))
            text = writer.table_text(TextTable("thoughts", "", head, rows))
            file.write(text.partition("\n")[2].encode("utf-8", "replace"))
    return path


def stop_rule_text(test: StopPlan | None) -> str:
    """Return the stop rule of a run in one phrase; empty without one."""
    if test is None:
        return ""
    if isinstance(test, WidthPlan):
        return f"width of the interval at most +-{test.width:g} Elo"
    elo = f"[{test.elo0:g}, {test.elo1:g}] {test.model} Elo"
    return f"SPRT {elo}, alpha {test.alpha:g}, beta {test.beta:g}"


def game_records(report: ReportData) -> Iterator[GameRecord]:
    """Return all games in schedule order; raise a UserError if their moves were not kept."""
    games, ended = report.games, timestamp(report, "finished")
    assert report.directory is not None  # only runs are exported
    seeds = read_columns(report.directory / GAMES, ["seed"])["seed"]
    versions, elos, notation = agent_versions(report.run), report.elos, report.plan.game.notation
    for begin in range(0, games.size, AT_ONCE):
        rows = range(begin, min(begin + AT_ONCE, games.size))
        chunk = games.take(np.array(rows))
        lines, openings = (games.texts(name, rows) for name in ("moves", "opening_moves"))
        if lines is None or openings is None:
            raise UserError(
                f"{report.directory} keeps no moves: play it again with keep_moves = true"
            )
        for at, row in enumerate(rows):
            places = int(chunk.first[at]), int(chunk.second[at])
            first, second = (games.names[place] for place in places)
            yield GameRecord(
                experiment=str(report.summary["experiment"]),
                run=str(report.run.get("digest", "")),
                date="????.??.??" if ended is None else f"{ended:%Y.%m.%d}",
                game=report.plan.game,
                number=row,
                pair=int(chunk.pair[at]),
                leg=row % 2,
                first=first,
                second=second,
                first_mover=games.names[int(chunk.mover[at])],
                result=float(chunk.result[at]),
                margin=int(chunk.margin[at]),
                plies=int(chunk.plies[at]),
                opening=int(chunk.opening[at]),
                opening_moves=openings[at] or "",
                moves=tuple(notation.split(lines[at] or "")),
                ending=games.endings[int(chunk.ending[at])],
                seed=int(seeds[row]),
                versions=(versions.get(first, ""), versions.get(second, "")),
                elos=(elos[places[0]], elos[places[1]]),
                stop_rule=stop_rule_text(report.plan.stop),
            )


def result_tables(report: ReportData) -> list[TextTable]:
    """Return the run's tables with all columns, and the matrix of scores."""
    rows: dict[str, tuple[type, Sequence[tuple[Cell, ...]]]] = {
        "elo": (EloRow, report.ratings),
        "win_rates": (WinRateRow, list(report.pairs.values())),
        "timings": (Timing, report.timings),
    }
    if report.points:  # the experiment ranks by points
        rows["points"] = (PointsRow, report.points)
    tables = [
        TextTable(name, name, tuple(kind._fields), tuple(tuple(row) for row in found))  # type: ignore[attr-defined]  # NamedTuples
        for name, (kind, found) in rows.items()
    ]
    tables = [
        _with_exclusion_marks(report, each) if each.name in RANKED else each for each in tables
    ]
    return [*tables, _matrix(report, "scores", lambda row: row.score)]


def _with_exclusion_marks(report: ReportData, table: TextTable) -> TextTable:
    at, out = table.head.index("agent"), report.exclusion_names
    rows = tuple((*row, EXCLUDED if row[at] in out else "") for row in table.rows)
    return replace(table, head=(*table.head, EXCLUDED), rows=rows)


def _matrix(
    report: ReportData, caption: str, cell: Callable[[WinRateRow], Cell], missing: Cell = None
) -> TextTable:
    names = report.agents
    cells = {pair: cell(row) for pair, row in report.pairs.items()}
    rows = tuple((name, *(cells.get((name, other), missing) for other in names)) for name in names)
    return TextTable("matrix", caption, ("agent", *names), rows)


def figure_tables(report: ReportData) -> list[TextTable]:
    """Return the tables of the page's figures, the matches, and the matrix of scores."""
    rule, tables = stop_rule_text(report.plan.stop), []
    ignored = "" if isinstance(report.plan.stop, WidthPlan) else ", which intervals ignore"
    note = f" (a stop rule could end the games{ignored}: {rule})" if rule else ""
    found = {
        "pairs" if name == "matrix" else name: (figure.heading, figure.table)
        for name, figure in make_figures(report).items()
        if figure.table is not None
    }
    if report.matches():  # the page of two agents has no such table
        found.setdefault("pairs", ("Matches", match_numbers(report)))
    for name, (heading, table) in found.items():
        kept = [place for place, head in enumerate(table.head) if head]
        rows = tuple(tuple(strip_markup(row[place]) for place in kept) for row in table.rows)
        head = tuple(table.head[place] for place in kept)
        tables.append(TextTable(name, heading + note, head, rows, table.text_columns))
    caption = f"Points won by the row's agent, in per cent, with the interval{note}"
    return [*tables, _matrix(report, caption, _score_cell, "")]


def _score_cell(row: WinRateRow) -> str:
    known = score_of(row)
    if known.value is None or not has_interval(known):
        return wdl_text(row)
    return f"{bare_share(known.value)} ({cell_ends(known)})"


def strip_markup(cell: Inside) -> str:
    """Return the text of a table cell of a page."""
    if isinstance(cell, Html):
        return unescape(re.sub(r"<[^>]*>", "", cell))
    return "" if cell is None else str(cell)
