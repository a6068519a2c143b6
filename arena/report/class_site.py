"""The public pages of a class: standings, matrix and games; one page for each author; grades."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.analysis.tables import EloRow
from arena.report.bot_reports import (
    AgentResults,
    bot_report,
    fault_log,
    first_errors,
    without_code,
)
from arena.report.data import ReportData
from arena.report.document import document, text_document
from arena.report.figure import FigureTable, section, section_html, table_html
from arena.report.figures.matrix import MOST_NUMBERED, matrix_figure
from arena.report.games import games_json
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import count, elo, elo_ends, points, rating_of
from arena.report.page import games_section
from arena.stats.estimate import EstimateKind
from arena.storage.run_log import PLAIN
from games.base.errors import printable
from games.base.files import write_text
from games.base.text import count_noun, without_machine_paths

INDEX, AUTHORS, GRADES = "index.html", "authors", "grades.csv"
GRADE_COLUMNS = (
    "author", "place", "points", "games", "elo", "elo_low", "elo_high", "faults", "first_fault",
    "seconds", "submission", "submitted", "identical_play_group", "source_likeness_group",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters that spreadsheets run


@dataclass(frozen=True)
class Submission:
    """The latest submission of an author; `refusal` says why it does not play."""

    number: int
    date: str
    refusal: str = ""


@dataclass(frozen=True)
class ClassResults:
    """The contents of the pages of a class; `report` is None before the first games.

    The groups have authors whose bots play identically, and authors whose sources are alike.
    """

    name: str
    game: str
    submissions: Mapping[str, Submission]
    status: str = ""
    report: ReportData | None = None
    logs: Path | None = None  # a directory with the logs of faults, as in a run
    identical: Sequence[Sequence[str]] = ()
    alike: Sequence[Sequence[str]] = ()
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def refused(self) -> dict[str, str]:
        """Return the authors without a bot that plays, with the reasons."""
        return {name: each.refusal for name, each in self.submissions.items() if each.refusal}


def write_site(site: Path, results: ClassResults) -> None:
    """Write all pages and the grades, and remove the pages of authors who left."""
    authors = site / AUTHORS
    authors.mkdir(parents=True, exist_ok=True)
    pages = {author_file(name): _refusal_page(name, why) for name, why in results.refused.items()}
    report, errors = results.report, dict(results.refused)
    if report is not None:
        own = AgentResults(report.games)
        for row in report.ratings:
            place = report.games.names.index(row.agent)
            log = fault_log(results.logs, report.games.names, place) if results.logs else ""
            found = first_errors(log)
            error = without_code(found[min(found)]) if found else ""
            errors[row.agent] = without_machine_paths(error, report.experiment_directory)
            submission = results.submissions.get(row.agent)
            page = bot_report(
                report, own, row, log, more=[_submission_line(submission)], is_public=True
            )
            pages[author_file(row.agent)] = page
    for name, text in pages.items():
        write_text(authors / name, text)
    for path in authors.glob("*.html"):
        if path.name not in pages:
            path.unlink()
    write_text(site / GRADES, grades_text(results, errors))
    write_text(site / INDEX, index_page(results))


def author_file(name: str) -> str:
    """Return the file of an author's page; it does not depend on the other authors."""
    plain = PLAIN.sub("_", name)
    if plain != name:
        digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=3)
        plain = f"{plain}-{digest.hexdigest()}"
    return f"{plain}.html"


def index_page(results: ClassResults) -> str:
    """Return the public page."""
    report, title = results.report, f"{results.name}: {results.game}"
    note = tag("p", results.status, class_="sure", role="status") if results.status else None
    if report is None:
        return text_document(title, "No games yet.", [note, _refused_section(results)])
    bots = f"{count_noun(len(report.ratings), 'bot')}, {count_noun(report.games.size, 'game')}"
    first = [row.agent for row in report.ratings if row.rank == 1]
    leader = join([join(map(name_of, first), " and "), " leads." if len(first) == 1 else " lead."])
    header = tag(
        "header", tag("h1", f"{results.name} at {results.game}: {bots}"),
        tag("p", leader, class_="answer"), note,
    )  # fmt: skip
    matrix = matrix_figure(with_match_points(report))
    parts = [
        header,
        _standings(results, report),
        section_html(matrix, "matrix") if matrix is not None else None,
        games_section(report),
        _refused_section(results),
    ]
    return document(title, join(parts), data=games_json(report, is_public=True))


def with_match_points(report: ReportData) -> ReportData:
    """Return the report of a large class with points in place of intervals of single matches.

    With few games of each match, nearly all intervals include an even score.
    """
    if len(report.ratings) <= MOST_NUMBERED:
        return report
    pairs = {
        names: row._replace(score_low=None, score_high=None, interval=EstimateKind.NONE.value)
        for names, row in report.pairs.items()
    }
    return replace(report, pairs=pairs)


def _standings(results: ClassResults, report: ReportData) -> Html:
    level = f"{100 * report.ratings[0].level:g}" if report.ratings else "95"
    rows = [_standing(results, report, row) for row in report.ratings]
    head = ("place", "author", "Elo", f"{level}\u00a0% interval", "points", "games", "faults",
            "submitted")  # fmt: skip
    lead = (
        "Places follow from Elo over all games; bots that finished no game come last. A fault is "
        "a lost game. Each name leads to the author's page."
    )
    return section(
        "Standings",
        tag("p", lead, class_="lead"),
        table_html(FigureTable(head, tuple(rows), text_columns=2), "Standings", "standings"),
        name="standings",
    )


def _standing(results: ClassResults, report: ReportData, row: EloRow) -> tuple[Inside, ...]:
    known, submission = rating_of(row), results.submissions.get(row.agent)
    link = tag("a", name_of(row.agent), href=f"{AUTHORS}/{author_file(row.agent)}")
    rating = "" if row.elo is None or report.too_few_openings else elo(row.elo)
    return (
        str(row.rank), link, rating, elo_ends(known) if rating else "", points(row.points),
        count(row.games), count(row.forfeits), submission.date if submission else "",
    )  # fmt: skip


def _submission_line(submission: Submission | None) -> Html | None:
    if submission is None:
        return None
    return tag("p", f"Submission {submission.number}, of {submission.date}.", class_="note")


def _refused_section(results: ClassResults) -> Html:
    refused = results.refused
    if not refused:
        return join(())
    rows = tuple(
        (tag("a", name_of(printable(name)), href=f"{AUTHORS}/{author_file(name)}"), why)
        for name, why in refused.items()
    )
    table = FigureTable(("author", "reason"), rows, text_columns=2)
    return section("Not played", table_html(table, "Submissions that do not play"))


def _refusal_page(name: str, why: str) -> str:
    return text_document(printable(name), "This submission does not play.", [tag("p", why)])


def grades_text(results: ClassResults, errors: Mapping[str, str]) -> str:
    """Return the grades as CSV, the best first; `errors` are the first errors of authors."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(GRADE_COLUMNS)
    report = results.report
    rows = report.ratings if report is not None else ()
    seconds = Counter[str]()
    for timing in report.timings if report is not None else ():
        seconds[timing.agent] += timing.seconds  # type: ignore[assignment]  # a sum of floats
    for row in rows:
        ends = [None if end is None else round(end, 1) for end in
                (row.elo, row.elo_low, row.elo_high)]  # fmt: skip
        writer.writerow([
            _cell(row.agent), row.rank, f"{row.points:g}", row.games, *ends, row.forfeits,
            _cell(errors.get(row.agent, "")), round(seconds[row.agent], 1),
            *_submission_cells(results, row.agent), *_group_cells(results, row.agent),
        ])  # fmt: skip
    played = {row.agent for row in rows}
    for name in results.submissions:
        if name not in played:
            writer.writerow([
                _cell(name), *[""] * 7, _cell(errors.get(name, "")), "",
                *_submission_cells(results, name), *_group_cells(results, name),
            ])  # fmt: skip
    return text.getvalue()


def _submission_cells(results: ClassResults, name: str) -> tuple[object, object]:
    own = results.submissions.get(name)
    return (own.number, own.date) if own else ("", "")


def _group_cells(results: ClassResults, name: str) -> list[object]:
    """Return the numbers of the groups of identical play and of like sources; empty for none."""
    return [
        next((number for number, group in enumerate(groups, 1) if name in group), "")
        for groups in (results.identical, results.alike)
    ]


def _cell(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula."""
    line = " ".join(printable(text).split())
    return f"'{line}" if line.startswith(FORMULA) else line
