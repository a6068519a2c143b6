"""What each agent's moves lost against perfect play, by stage, with the worst of them."""

import numpy as np
from numpy.typing import NDArray

from arena.report.chart import ticks
from arena.report.data import MeanLoss, MoveLosses, Numbers, ReportData, mean_loss
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_html
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import StoredEstimate, count, minus, share
from arena.report.row_chart import ChartRow, RowChart, chart_html, chart_picture
from arena.report.svg import Scale, interval
from games.base.schema import KeyValues

WORST = 3  # moves of each agent


def figure(report: ReportData) -> Figure | None:
    """The mean losses; None for a run that nobody has judged."""
    losses = report.losses
    if losses is None:
        return None
    agents = [name for name in report.agents if any(
        each["agent"] == name for each in losses.judgement["agents"])]  # fmt: skip
    openings = report.games.openings()
    means = {name: mean_loss(losses, _own(losses, name), openings) for name in agents}
    table = _stages(openings, losses, agents)
    chart = _chart(means)
    body = join([
        chart_html(chart), tag("h3", "By stage"), table_html(table, "Mean loss by stage"),
        tag("h3", "The worst moves"), table_html(_worst(losses), "The worst moves"),
    ])  # fmt: skip
    return Figure("Losses", _lead(losses), chart_picture(chart), table, body)


def _own(losses: MoveLosses, name: str) -> NDArray[np.bool_]:
    """The known moves that an agent chose itself."""
    rows: NDArray[np.bool_] = losses.known & ~losses.opening & (losses.mover == name)
    return rows


def _lead(losses: MoveLosses) -> Html:
    judged, last = int(losses.known.sum()), losses.judgement.get("judged_to")
    reach = f" in the last {last} beans or squares of every game" if last else ""
    return lead_paragraph(
        "How many points a move gave away against the best one, under perfect play of both sides: ",
        strong("exact values, not a search's"),
        f". {count(judged)} of {count(len(losses.game))} moves are judged{reach}; moves of the "
        "opening are nobody's. The band holds the mean of 95 of 100 such runs.",
    )


def _chart(means: dict[str, MeanLoss]) -> RowChart:
    ends = [end for mean in means.values() for end in mean[1:] if end is not None]
    scale = Scale(0.0, 1.05 * max([*ends, 0.1]))
    rows = [
        ChartRow(name, interval(scale, _known(mean), 14, 12, 4), [_text(mean), _ends(mean)])
        for name, mean in means.items()
    ]
    return RowChart(
        caption="Mean loss of a move",
        scale=scale,
        ticks=[(tick, f"{tick:g}") for tick in ticks(scale.low, scale.high, 6)],
        rows=rows,
        heads=("agent", "a move", "95\u00a0%"),
    )


def _known(mean: MeanLoss) -> StoredEstimate:
    return StoredEstimate(mean.mean, mean.low, mean.high, "fixed-n", 0.95, "")


def _text(mean: MeanLoss) -> str:
    return "unknown" if mean.mean is None else f"{mean.mean:.2f}"


def _ends(mean: MeanLoss) -> str:
    if mean.mean == 0.0:
        return "no loss was seen"
    if mean.low is None or mean.high is None:
        return "no interval"
    return f"{mean.low:.2f} to {mean.high:.2f}"


def _stages(openings: Numbers, losses: MoveLosses, agents: list[str]) -> FigureTable:
    """A row for each agent and stage: what is left, moves, share of perfect ones, mean loss."""
    rows: list[tuple[Inside, ...]] = []
    for stored in losses.judgement["agents"]:
        if stored["agent"] not in agents:
            continue
        for stage in stored["stages"]:
            if stage["judged"]:
                rows.append(_stage(openings, losses, stored["agent"], stage))
    head = (
        "agent",
        "left on the board",
        "judged",
        "perfect",
        "mean loss",
        "95\u00a0%",
        "thrown away",
    )
    return FigureTable(head, tuple(rows), words=2)


def _stage(
    openings: Numbers, losses: MoveLosses, name: str, stage: KeyValues
) -> tuple[Inside, ...]:
    left = (losses.left >= stage["first"]) & (losses.left <= stage["last"])
    mean = mean_loss(losses, _own(losses, name) & left, openings)
    return (
        name_of(name),
        f"{stage['first']}\u2013{stage['last']}",
        count(stage["judged"]),
        share(stage["perfect"] / stage["judged"]),
        _text(mean),
        _ends(mean),
        count(stage["thrown_away"]),
    )


def _worst(losses: MoveLosses) -> FigureTable:
    """The worst moves of each agent, with links to them."""
    rows: list[tuple[Inside, ...]] = []
    for stored in losses.judgement["agents"]:
        for move in stored["blunders"][:WORST]:
            place = f"#game={move['game']}&ply={move['ply']}"
            link = tag("a", f"game {move['game']}, ply {move['ply']}", href=place)
            rows.append((
                name_of(stored["agent"]), link,
                f"{move['move']} for {move['best']}",
                minus(f"{move['value']:+} becomes {move['after']:+}"), count(int(move["loss"])),
            ))  # fmt: skip
    return FigureTable(("agent", "where", "move", "margin", "loss"), tuple(rows), words=4)
