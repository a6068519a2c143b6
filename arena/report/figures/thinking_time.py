"""Thinking time of agents, and the positions that they searched."""

import math

from arena.analysis.timings import AgentTiming, agent_timings
from arena.report.chart import ChartRow, RowChart, chart_html, chart_picture
from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_paragraph,
    lead_paragraph,
    strong,
    table_details,
)
from arena.report.html import Html, join, name_of
from arena.report.numbers import count, seconds
from arena.report.svg import Scale, dot

MEASURED_HEADS = ("a move*", "positions a second*")
NOT_REPRODUCIBLE = "* Measured when the games were played; it varies."


def time_figure(report: ReportData) -> Figure | None:
    """Return a dot for each agent on a logarithmic axis."""
    sums, heading = agent_timings(report.timings), "Thinking time"
    costs = {agent: sums.get(agent, AgentTiming()) for agent in report.agents}
    timed = [c.seconds_per_move for c in costs.values() if c.seconds_per_move is not None]
    if not timed:
        return Figure(heading, empty_paragraph("No agent needed time that could be measured."))
    low, high = math.floor(math.log10(min(timed))), math.ceil(math.log10(max(timed)))
    scale = Scale(float(low), float(max(high, low + 1)))
    rows = [
        ChartRow(agent, _mark(scale, cost), [move_time(cost), _nodes(cost)])
        for agent, cost in costs.items()
    ]
    step = -(-int(scale.high - scale.low) // 6)
    chart = RowChart(
        caption="Thinking time of all agents",
        scale=scale,
        ticks=[(t, seconds(10.0**t)) for t in range(low, int(scale.high) + 1, step)],
        rows=rows,
        heads=("agent", "a move", "positions a move"),
        axis_title="time for a move, on a logarithmic scale",
    )
    table = FigureTable(
        ("agent", "moves", "seconds", "a move", "positions", "positions a second"),
        tuple(
            (
                name_of(agent), count(cost.moves), f"{cost.seconds:.3g}", move_time(cost),
                count(cost.nodes), search_speed(cost),
            )
            for agent, cost in costs.items()
        ),
    )  # fmt: skip
    lead = lead_paragraph(
        "Per move, on the machine that played. A measurement of one run, not an estimate: ",
        strong("no interval, and another run measures other times"),
        f". Each step of the axis is {'ten times' if step == 1 else f'{10**step:,} times'} the "
        "last.",
    )
    body = join([chart_html(chart), table_details(table, "Thinking time in numbers")])
    return Figure(heading, lead, chart_picture(chart), table, body, menu_label="Time")


def _mark(scale: Scale, cost: AgentTiming) -> Html:
    return (
        Html("")
        if cost.seconds_per_move is None
        else dot(scale.at(math.log10(cost.seconds_per_move)), 14, 4, "plain")
    )


def move_time(cost: AgentTiming) -> str:
    """Return the time per move of an agent, or a dash."""
    return "\u2013" if cost.seconds_per_move is None else seconds(cost.seconds_per_move)


def search_speed(cost: AgentTiming) -> str:
    """Return the nodes per second of an agent, or a dash."""
    return "\u2013" if cost.nodes_per_second is None else f"{cost.nodes_per_second:,.0f}"


def _nodes(cost: AgentTiming) -> str:
    return f"{cost.nodes / cost.moves:,.0f}" if cost.nodes and cost.moves else "no search"
