"""The match of two agents: what a pair of games from one opening brought to the first."""

from arena.analysis.tables import WinRateRow
from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_details
from arena.report.figures.ratings import glossary
from arena.report.html import Html, join, name_of, tag
from arena.report.numbers import (
    CENSUS,
    StoredEstimate,
    count,
    counted,
    difference_of,
    elo,
    elo_ends,
    score_of,
    share,
    share_ends,
    stored_estimate,
)
from arena.report.row_chart import ChartRow, RowChart, chart_html, chart_picture
from arena.report.svg import Scale, rect

POINTS = ("2 points", "1\u00bd", "1", "\u00bd", "0")
KINDS = ("bar", "bar", "even", "worse", "worse")
SLIVER = 0.4  # per cent: nothing that happened is invisible


def figure(report: ReportData) -> Figure | None:
    """Five bars; None for more agents than two, or none that met."""
    if not report.two or not report.met():
        return None
    row = report.met()[0]
    pairs = row.pairs_ww, row.pairs_wd, row.pairs_even, row.pairs_ld, row.pairs_ll
    total = sum(pairs) or 1
    rows = [
        ChartRow(
            f"{row.agent} took {what}" if not place else f"took {what}",
            _bar(number / total, kind),
            [count(number), f"{share(number / total)} of pairs" if number else ""],
        )
        for place, (number, what, kind) in enumerate(zip(pairs, POINTS, KINDS, strict=True))
    ]
    chart = RowChart(
        "Pairs of games by the points they brought", Scale(0, 1), (), rows,
        ("points from a pair", "pairs", "share"),
    )  # fmt: skip
    table = FigureTable(
        ("points from a pair", "pairs"),
        tuple((what, count(number)) for number, what in zip(pairs, POINTS, strict=True)),
    )
    body = join([chart_html(chart), table_details(table, "The match in numbers")])
    return Figure("The match", _lead(report, row), chart_picture(chart), table, body,
                  join([_notes(report, row), glossary(report)]))  # fmt: skip


def _bar(part: float, kind: str) -> Html:
    filled = rect(0, max(100 * part, SLIVER), 8, 12, kind) if part else None
    return join([rect(0, 100, 8, 12, "track"), filled])


def _lead(report: ReportData, row: WinRateRow) -> Html:
    known, pairs = score_of(row), row.games // 2
    if known.value is None:
        return lead_paragraph(
            name_of(row.agent), " and ", name_of(row.opponent), ": ", known.why, "."
        )
    stopped = report.stopped
    again = f"Each of {counted(report.openings, 'opening')} was played twice, once from each seat."
    if pairs != report.openings:
        again = (
            f"{counted(pairs, 'pair')} of games began from {counted(report.openings, 'opening')}; "
            "in a pair each agent moves first once."
        )
    if stopped:
        corrected = stored_estimate(stopped["corrected"])
        return lead_paragraph(
            "A test stops the games when the score is far from even, so the score as played "
            "exaggerates. Corrected for that, ", name_of(stopped["agent"]), " against ",
            name_of(stopped["opponent"]), ": ",
            strong(f"{elo(corrected.value or 0.0)} Elo"), f", {elo_ends(corrected)}. {again}",
        )  # fmt: skip
    return lead_paragraph(
        name_of(row.agent), " scored ", strong(share(known.value)), " of the points",
        f" ({_sure(known)}). {again}",
    )  # fmt: skip


def _sure(known: StoredEstimate) -> str:
    if known.kind == CENSUS:
        return "exact: these are all openings there are"
    if not known.bounded:
        return known.why or "no interval"
    return f"{100 * known.level:g}\u00a0%: {share_ends(known)}"


def _notes(report: ReportData, row: WinRateRow) -> Html:
    seats = ""
    if row.first_mover_score is not None:
        seats = (
            f"As first mover {row.first_wins}-{row.first_draws}-{row.first_losses}, as second "
            f"{row.second_wins}-{row.second_draws}-{row.second_losses} (won-drawn-lost). "
        )
    difference = difference_of(row)
    elos = ""
    if difference.bounded and not report.summary.get("stopped"):
        value = "" if difference.value is None else f"{elo(difference.value)} Elo, "
        elos = f"In Elo: {value}{elo_ends(difference)}. "
    open_end = ""
    if score_of(row).kind not in ("none", CENSUS) and score_of(row).bounded:
        if difference.high is None:
            open_end = (
                "There is no upper bound: this score is compatible with any larger difference."
            )
        elif difference.low is None:
            open_end = (
                "There is no lower bound: this score is compatible with any larger difference."
            )
    return tag("p", f"{seats}{elos}{open_end}", class_="note")
