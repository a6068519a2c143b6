"""The table of an experiment that ranks by points: the official places, and the champion."""

from arena.analysis.standings import TIES
from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_html
from arena.report.figures.ratings import glossary, marked_name, points_chart
from arena.report.html import join, name_of
from arena.report.numbers import count, minus, points, share
from arena.report.row_chart import chart_picture

HEAD = ("agent", "place", "points", "games", "won", "drawn", "lost", "share", "scores")


def figure(report: ReportData) -> Figure | None:
    """A row for each agent; None if the experiment ranks by ratings."""
    if not report.points:
        return None
    rows = tuple(
        (
            marked_name(report, row.agent), str(row.place), points(row.points), count(row.games),
            count(row.won), count(row.drawn), count(row.lost), share(row.score),
            minus(f"{row.margin:+,}"),
        )
        for row in report.points
    )  # fmt: skip
    champions = [strong(name_of(row.agent)) for row in report.points if row.champion]
    lead = lead_paragraph(
        "Champion" if len(champions) == 1 else "Champions, equal in all", ": ",
        join(champions, ", "), ". A game won is a point, a draw half a point. Agents are ranked "
        f"by points per game; {TIES}.",
    )  # fmt: skip
    table, chart = FigureTable(HEAD, rows), points_chart(report)
    body = table_html(table, "Standings by points")
    notes = glossary(report) if report.standing else None  # else it stands below the ratings
    return Figure("Standings", lead, chart_picture(chart), table, body, notes)
