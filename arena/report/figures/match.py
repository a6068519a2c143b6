"""The match of two agents: what a pair of games from one opening brought to the first."""

from arena.analysis.tables import WinRateRow
from arena.report.data import Report
from arena.report.figure import Figure, NumberTable, numbers_below, sentences, strong
from arena.report.figures.ratings import glossary
from arena.report.html import Html, joined, name_of, tag
from arena.report.numbers import (
    CENSUS,
    Known,
    count,
    counted,
    difference_of,
    elo,
    elo_ends,
    known_from,
    score_of,
    share,
    share_ends,
)
from arena.report.row_chart import ChartRow, RowChart, as_picture, on_a_page
from arena.report.svg import Scale, block

POINTS = ("2 points", "1\u00bd", "1", "\u00bd", "0")
KINDS = ("bar", "bar", "even", "worse", "worse")
SLIVER = 0.4  # per cent: nothing that happened is invisible


def figure(report: Report) -> Figure | None:
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
    table = NumberTable(
        ("points from a pair", "pairs"),
        tuple((what, count(number)) for number, what in zip(pairs, POINTS, strict=True)),
    )
    body = joined([on_a_page(chart), numbers_below(table, "The match in numbers")])
    return Figure("The match", _lead(report, row), as_picture(chart), table, body,
                  joined([_notes(report, row), glossary(report)]))  # fmt: skip


def _bar(part: float, kind: str) -> Html:
    filled = block(0, max(100 * part, SLIVER), 8, 12, kind) if part else None
    return joined([block(0, 100, 8, 12, "track"), filled])


def _lead(report: Report, row: WinRateRow) -> Html:
    known, pairs = score_of(row), row.games // 2
    if known.value is None:
        return sentences(name_of(row.agent), " and ", name_of(row.opponent), ": ", known.why, ".")
    stopped = report.stopped
    again = f"Each of {counted(report.openings, 'opening')} was played twice, once from each seat."
    if pairs != report.openings:
        again = (
            f"{counted(pairs, 'pair')} of games began from {counted(report.openings, 'opening')}; "
            "in a pair each agent moves first once."
        )
    if stopped:
        corrected = known_from(stopped["corrected"])
        return sentences(
            "The test stopped the games, which makes the score as played look better than it is. "
            "Corrected for that: ",
            strong(f"{elo(corrected.value or 0.0)} Elo"), f", {elo_ends(corrected)}. {again}",
        )  # fmt: skip
    return sentences(
        name_of(row.agent), " scored ", strong(share(known.value)), " of the points",
        f" ({_sure(known)}). {again}",
    )  # fmt: skip


def _sure(known: Known) -> str:
    if known.kind == CENSUS:
        return "exact: these are all openings there are"
    if not known.bounded:
        return known.why or "no interval"
    return f"{100 * known.level:g}\u00a0%: {share_ends(known)}"


def _notes(report: Report, row: WinRateRow) -> Html:
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
