"""Move losses of each agent against perfect play, by stage, and its worst moves."""

from arena.report.chart import ChartRow, RowChart, chart_html, chart_picture, ticks
from arena.report.data import Flags, MoveLosses, Numbers, ReportData, mean_loss
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_html
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import DASH, count, minus, share
from arena.report.svg import Scale, interval_marks
from arena.stats.estimate import Estimate
from games.base.schema import KeyValues

WORST = 3  # moves of each agent


def losses_figure(report: ReportData) -> Figure | None:
    """Return the mean losses; None for a run that was not judged."""
    losses = report.losses
    if losses is None:
        return None
    agents = [name for name in report.agents if any(
        each["agent"] == name for each in losses.judgement["agents"])]  # fmt: skip
    openings = report.games.openings()
    means = {name: mean_loss(losses, _agent_rows(losses, name), openings) for name in agents}
    table = _stage_table(openings, losses, agents)
    chart = _chart(means)
    body = join([
        chart_html(chart), tag("h3", "By stage"), table_html(table, "Mean loss by stage"),
        tag("h3", "The worst moves"), table_html(_worst_table(losses), "The worst moves"),
    ])  # fmt: skip
    return Figure("Losses", _lead(losses), chart_picture(chart), table, body)


def _agent_rows(losses: MoveLosses, name: str) -> Flags:
    """Return the known moves that an agent chose; the moves of openings are not chosen."""
    rows: Flags = losses.known & ~losses.opening & (losses.mover == name)
    return rows


def _lead(losses: MoveLosses) -> Html:
    judged, last = int(losses.known.sum()), losses.judgement.get("judged_to")
    reach = f" in the last {last} beans or squares of every game" if last else ""
    return lead_paragraph(
        "Move loss: the value of the best move minus the value of the played move, with perfect "
        "play of both sides. These are ",
        strong("exact values, not those of a search"),
        f". {count(judged)} of {count(len(losses.game))} moves are judged{reach}; moves of the "
        "opening belong to no agent. The band holds the true mean in 95 of 100 such runs.",
    )


def _chart(means: dict[str, Estimate]) -> RowChart:
    known = [(mean.value, mean.low, mean.high) for mean in means.values()]
    ends = [end for ends in known for end in ends if end is not None]
    scale = Scale(0.0, 1.05 * max([*ends, 0.1]))
    rows = [
        ChartRow(name, interval_marks(scale, mean, 14, 12, 4), [_text(mean), _ends(mean)])
        for name, mean in means.items()
    ]
    return RowChart(
        caption="Mean loss of a move",
        scale=scale,
        ticks=[(tick, f"{tick:g}") for tick in ticks(scale.low, scale.high, 6)],
        rows=rows,
        heads=("agent", "a move", "95\u00a0%"),
        axis_title="mean loss of a move",
    )


def _text(mean: Estimate) -> str:
    return mean.reason if mean.value is None else f"{mean.value:.2f}"


def _ends(mean: Estimate) -> str:
    if mean.value == 0.0:
        return "no loss was seen"
    if mean.low is None or mean.high is None:
        return "no interval"
    return f"{mean.low:.2f} to {mean.high:.2f}"


def _stage_table(openings: Numbers, losses: MoveLosses, agents: list[str]) -> FigureTable:
    rows: list[tuple[Inside, ...]] = []
    for stored in losses.judgement["agents"]:
        if stored["agent"] not in agents:
            continue
        for stage in stored["stages"]:
            if stage["judged"]:
                rows.append(_stage_row(openings, losses, stored["agent"], stage))
    head = (
        "agent",
        "left on the board",
        "judged",
        "perfect",
        "mean loss",
        "95\u00a0%",
        "thrown away",
    )
    return FigureTable(head, tuple(rows), text_columns=2)


def _stage_row(
    openings: Numbers, losses: MoveLosses, name: str, stage: KeyValues
) -> tuple[Inside, ...]:
    left = (losses.left >= stage["first"]) & (losses.left <= stage["last"])
    mean = mean_loss(losses, _agent_rows(losses, name) & left, openings)
    return (
        name_of(name),
        f"{stage['first']}{DASH}{stage['last']}",
        count(stage["judged"]),
        share(stage["perfect"] / stage["judged"]),
        _text(mean),
        _ends(mean),
        count(stage["thrown_away"]),
    )


def _worst_table(losses: MoveLosses) -> FigureTable:
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
    return FigureTable(("agent", "where", "move", "margin", "loss"), tuple(rows), text_columns=4)
