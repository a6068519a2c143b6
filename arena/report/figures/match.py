"""The match of two agents: pairs of games by the points of the first agent."""

from arena.analysis.tables import WinRateRow
from arena.analysis.timings import AgentTiming, agent_timings
from arena.report.chart import ChartRow, RowChart, chart_html, chart_picture
from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    lead_paragraph,
    strong,
    table_details,
    table_html,
)
from arena.report.figures.ratings import glossary
from arena.report.figures.thinking_time import (
    MEASURED_HEADS,
    NOT_REPRODUCIBLE,
    move_time,
    search_speed,
)
from arena.report.html import Html, join, name_of, tag
from arena.report.numbers import (
    count,
    difference_of,
    elo,
    elo_ends,
    estimate_from_json,
    has_end,
    score_of,
    share,
    share_ends,
)
from arena.report.svg import Scale, rect
from arena.stats.estimate import Estimate, EstimateKind
from games.base.text import count_noun

POINTS = ("2 points", "1\u00bd", "1", "\u00bd", "0")
KINDS = ("bar", "bar", "even", "worse", "worse")
SLIVER = 0.4  # per cent: the least width of a bar


def match_figure(report: ReportData) -> Figure | None:
    """Return five bars; None unless two agents met."""
    if not report.has_two_agents or not report.matches():
        return None
    row = report.matches()[0]
    pairs = row.pairs_ww, row.pairs_wd, row.pairs_even, row.pairs_ld, row.pairs_ll
    total = sum(pairs) or 1
    rows = [
        ChartRow(
            what,
            _bar(number / total, kind),
            [count(number), f"{share(number / total)} of pairs" if number else ""],
        )
        for number, what, kind in zip(pairs, POINTS, KINDS, strict=True)
    ]
    chart = RowChart(
        f"Pairs of games by the points of {row.agent}", Scale(0, 1), (), rows,
        (f"points of {row.agent} from a pair", "pairs", "share"),
    )  # fmt: skip
    table = FigureTable(
        (f"points of {row.agent} from a pair", "pairs"),
        tuple((what, count(number)) for number, what in zip(pairs, POINTS, strict=True)),
    )
    numbers = table_details(table, "The match in numbers")
    body = join([table_html(_agents_table(report, row), "The agents"), chart_html(chart), numbers])
    return Figure("The match", _lead(report, row), chart_picture(chart), table, body,
                  join([_notes(report, row), glossary(report)]))  # fmt: skip


def _agents_table(report: ReportData, row: WinRateRow) -> FigureTable:
    """Return the two agents with their scores and speeds."""
    sums = agent_timings(report.timings)
    rows = []
    for each in (row, report.pairs[row.opponent, row.agent]):
        known, speed = score_of(each), sums.get(each.agent, AgentTiming())
        score = known.reason if known.value is None else f"{share(known.value)} ({_sure(known)})"
        rows.append((name_of(each.agent), score, move_time(speed), search_speed(speed)))
    return FigureTable(("agent", "score", *MEASURED_HEADS), tuple(rows))


def _bar(part: float, kind: str) -> Html:
    filled = rect(0, max(100 * part, SLIVER), 8, 12, kind) if part else None
    return join([rect(0, 100, 8, 12, "track"), filled])


def _lead(report: ReportData, row: WinRateRow) -> Html:
    known, pairs = score_of(row), row.games // 2
    if known.value is None:
        return lead_paragraph(
            name_of(row.agent), " and ", name_of(row.opponent), ": ", known.reason, "."
        )
    openings = count_noun(report.openings, "opening")
    again = f"Each of {openings} was played twice, with sides swapped."
    if pairs != report.openings:
        again = (
            f"{count_noun(pairs, 'pair')} of games started from {openings}; in a pair each agent "
            "moves first once."
        )
    if sprt := report.sprt:
        corrected = estimate_from_json(sprt["corrected"])
        return lead_paragraph(
            "A test stops the games when the score is far from even, so the score of the games "
            "exaggerates. Corrected for that, ", name_of(sprt["agent"]), " against ",
            name_of(sprt["opponent"]), ": ",
            strong(f"{elo(corrected.value or 0.0)} Elo"), f", {elo_ends(corrected)}. {again}",
        )  # fmt: skip
    return lead_paragraph(
        name_of(row.agent), " scored ", strong(share(known.value)), " of the points",
        f" ({_sure(known)}). {again}",
    )  # fmt: skip


def _sure(known: Estimate) -> str:
    if known.kind == EstimateKind.CENSUS:
        return "exact: these are all openings there are"
    if not has_end(known):
        return known.reason or "no interval"
    return f"{100 * known.level:g}\u00a0%: {share_ends(known)}"


def _notes(report: ReportData, row: WinRateRow) -> Html:
    sides = ""
    if row.first_mover_score is not None:
        sides = (
            f"As first mover {row.first_wins}-{row.first_draws}-{row.first_losses}, as second "
            f"{row.second_wins}-{row.second_draws}-{row.second_losses} (won-drawn-lost). "
        )
    difference = difference_of(row)
    elos = ""
    if has_end(difference) and not report.summary.get("stopped"):
        value = "" if difference.value is None else f"{elo(difference.value)} Elo, "
        elos = f"In Elo: {value}{elo_ends(difference)}. "
    open_end = ""
    if has_end(score_of(row)) and None in (difference.low, difference.high):
        missing = "upper" if difference.high is None else "lower"
        open_end = (
            f"There is no {missing} bound: this score is compatible with any larger difference. "
        )
    return tag("p", f"{sides}{elos}{open_end}{NOT_REPRODUCIBLE}", class_="note")
