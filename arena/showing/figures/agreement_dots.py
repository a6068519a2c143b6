"""Who plays like whom: equal moves of pairs of agents, where `arena.agreement` has asked them."""

from arena.concluding.agreement_rows import TABLE, AgreementRow
from arena.report.data import Report
from arena.report.figure import Figure, NumberTable, numbers_below, sentences, strong
from arena.report.html import joined, name_of
from arena.report.numbers import count
from arena.report.row_chart import ChartRow, RowChart, as_picture, on_a_page
from arena.report.svg import Scale, dot
from arena.storage import parquet

SHOWN = 16  # pairs drawn; the table below has all


def figure(report: Report) -> Figure | None:
    """A dot for each pair's share of equal moves, a small one for what is expected."""
    if report.directory is None or not (report.directory / TABLE).exists():
        return None
    rows = parquet.read_rows(report.directory / TABLE, AgreementRow)
    scale = Scale(0.0, 100.0)
    chart = RowChart(
        caption="Equal moves of pairs of agents on the same positions",
        scale=scale,
        ticks=[(float(t), f"{t} %") for t in range(0, 101, 25)],
        rows=[_drawn(scale, row) for row in rows[:SHOWN]],
        heads=("agents", "equal", "expected"),
    )
    same = [f"{row.agent} and {row.other}" for row in rows if row.same]
    found = f"Identical play: {', '.join(same)}." if same else "No two agents play identically."
    lead = sentences(
        strong(found),
        " The large dot is the share of equal moves on the same positions, the small one what is "
        "expected of two agents that choose by themselves as well as these do.",
    )
    table = _numbers(rows)
    body = joined([on_a_page(chart), numbers_below(table, "Equal moves in numbers")])
    return Figure("Who plays like whom", lead, as_picture(chart), table, body, short="Likeness")


def _drawn(scale: Scale, row: AgreementRow) -> ChartRow:
    expected = dot(scale.at(100 * row.expected), 14, 2, "plain")
    share = dot(scale.at(100 * row.share), 14, 4, "plain")
    texts = [_percent(row.share), _percent(row.expected)]
    return ChartRow(f"{row.agent} / {row.other}", joined([expected, share]), texts)


def _numbers(rows: list[AgreementRow]) -> NumberTable:
    return NumberTable(
        ("agent", "other", "positions", "equal moves", "share", "expected"),
        tuple(
            (
                name_of(row.agent),
                name_of(row.other),
                count(row.positions),
                count(row.equal),
                _percent(row.share),
                _percent(row.expected),
            )
            for row in rows
        ),
        words=2,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
