"""Thinking time of agents, and the positions that they searched."""

import math
from typing import NamedTuple

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


class AgentTime(NamedTuple):
    """Sums over the moves of an agent."""

    agent: str
    moves: int
    nodes: int
    seconds: float

    @property
    def seconds_per_move(self) -> float | None:
        """Return the mean seconds per move; None if they were not measured."""
        return self.seconds / self.moves if self.moves and self.seconds > 0 else None


def time_figure(report: ReportData) -> Figure | None:
    """Return a dot for each agent on a logarithmic axis."""
    costs, heading = [_agent_time(report, agent) for agent in report.agents], "Thinking time"
    timed = [cost.seconds_per_move for cost in costs if cost.seconds_per_move is not None]
    if not timed:
        return Figure(heading, empty_paragraph("No agent needed time that could be measured."))
    low, high = math.floor(math.log10(min(timed))), math.ceil(math.log10(max(timed)))
    scale = Scale(float(low), float(max(high, low + 1)))
    rows = [ChartRow(cost.agent, _mark(scale, cost), [_time(cost), _nodes(cost)]) for cost in costs]
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
                name_of(cost.agent), count(cost.moves), f"{cost.seconds:.3g}", _time(cost),
                count(cost.nodes), _speed(cost),
            )
            for cost in costs
        ),
    )  # fmt: skip
    lead = lead_paragraph(
        "Per move, on the machine that played. A measurement of one run, not an estimate: ",
        strong("no interval, and other numbers tomorrow"),
        f". Each step of the axis is {'ten times' if step == 1 else f'{10**step:,} times'} the "
        "last.",
    )
    body = join([chart_html(chart), table_details(table, "Thinking time in numbers")])
    return Figure(heading, lead, chart_picture(chart), table, body, menu_label="Time")


def _agent_time(report: ReportData, agent: str) -> AgentTime:
    own = [row for row in report.timings if row.agent == agent]
    return AgentTime(
        agent,
        sum(row.moves for row in own),
        sum(row.nodes for row in own),
        sum(row.seconds for row in own),
    )


def _mark(scale: Scale, cost: AgentTime) -> Html:
    return (
        Html("")
        if cost.seconds_per_move is None
        else dot(scale.at(math.log10(cost.seconds_per_move)), 14, 4, "plain")
    )


def _time(cost: AgentTime) -> str:
    return "\u2013" if cost.seconds_per_move is None else seconds(cost.seconds_per_move)


def _speed(cost: AgentTime) -> str:
    return f"{cost.nodes / cost.seconds:,.0f}" if cost.nodes and cost.seconds else "\u2013"


def _nodes(cost: AgentTime) -> str:
    return f"{cost.nodes / cost.moves:,.0f}" if cost.nodes and cost.moves else "no search"
