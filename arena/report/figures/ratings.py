"""The ratings of three or more agents, and the standings by points."""

from collections.abc import Sequence

from arena.analysis.evidence import EXCLUDED
from arena.analysis.standings import TIES
from arena.analysis.tables import EloRow
from arena.analysis.timings import AgentTiming, agent_timings
from arena.report.answer import InseparableGroup, group_html, inseparable_groups
from arena.report.chart import ChartRow, RowChart, chart_html, chart_picture, ticks
from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    lead_paragraph,
    strong,
    table_details,
    table_html,
)
from arena.report.figures.thinking_time import (
    MEASURED_HEADS,
    NOT_REPRODUCIBLE,
    move_time,
    search_speed,
)
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import (
    DASH,
    NO_BREAK,
    confidence,
    count,
    elo,
    elo_ends,
    has_end,
    minus,
    points,
    rating_of,
    share,
)
from arena.report.svg import Scale, interval_marks, rect
from arena.stats.elo import score_from_elo
from arena.stats.estimate import FEW_OPENINGS, EstimateKind
from games.base.text import count_noun

MARGIN = 0.04  # of the scale, beyond the widest interval
LEAST_RANGE = 40.0  # Elo on each side of zero
EXAMPLE = 200  # Elo
ELO_STEPS = (1, 2, 5, 10)
LANE = 8  # pixels


def points_figure(report: ReportData) -> Figure | None:
    """Return the standings by points; None if the experiment ranks by ratings."""
    if not report.points:
        return None
    rows = tuple(
        (
            name_with_mark(report, row.agent), str(row.place), points(row.points),
            count(row.games), count(row.won), count(row.drawn), count(row.lost), share(row.score),
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
    head = ("agent", "place", "points", "games", "won", "drawn", "lost", "share", "scores")
    table = FigureTable(head, rows)
    notes = glossary(report) if report.too_few_openings else None  # else below the ratings
    body = table_html(table, "Standings by points")
    return Figure("Standings", lead, chart_picture(_points_chart(report)), table, body, notes)


def ratings_figure(report: ReportData) -> Figure | None:
    """Return the ratings, or with few openings the points; None for two agents."""
    if report.has_two_agents or (report.too_few_openings and report.points):
        return None
    return _few_openings_figure(report) if report.too_few_openings else _ratings_figure(report)


def _ratings_figure(report: ReportData) -> Figure:
    groups = inseparable_groups(report)
    chart = _chart(report, groups)
    level = confidence(report.ratings[0].level)
    zero = f"the mean of the {len(report.agents)} is 0"
    if len({row.group for row in report.ratings}) > 1:
        zero = "in each group the mean is 0, and groups cannot be compared"
    band = ""
    if any(has_end(rating_of(row)) for row in report.ratings):
        band = f", the band holds the true value in {level.rstrip('%')}of 100 such runs"
        if any(row.interval == EstimateKind.ADAPTED for row in report.ratings):
            band = (
                ", the band holds the true value less often than it says, as results decided "
                "which agents met"
            )
    points_share = f"{100 * score_from_elo(EXAMPLE):.0f}{NO_BREAK}%"
    lead = lead_paragraph(
        f"A dot is the best estimate{band}. Only differences of Elo matter: here {zero}; ",
        strong(f"{EXAMPLE} Elo more means about {points_share} of the points"),
        ".",
    )
    table = FigureTable(
        (
            "agent",
            "place",
            "Elo",
            "from",
            "to",
            "points",
            "games",
            "openings",
            "n_eff",
            "forfeits",
            *MEASURED_HEADS,
        ),
        tuple(_numbers(report, row) for row in report.ratings),
    )
    body = join([chart_html(chart), table_details(table, "Ratings in numbers")])
    notes = _notes(report, groups)
    return Figure("Ratings", lead, chart_picture(chart), table, body, notes)


def _chart(report: ReportData, groups: Sequence[InseparableGroup]) -> RowChart:
    known = [rating_of(row) for row in report.ratings]
    ends = [end for each in known for end in (each.value, each.low, each.high) if end is not None]
    low, high = min([*ends, -LEAST_RANGE]), max([*ends, LEAST_RANGE])
    margin = MARGIN * (high - low)
    scale, level = Scale(low - margin, high + margin), confidence(report.ratings[0].level)
    rows = [
        ChartRow(
            row.agent,
            interval_marks(scale, rating, 14, 12, 4),
            _texts(report, row),
            brackets(groups, place, 28),
            _group_heading(report, place),
            row.rank,
        )
        for place, (row, rating) in enumerate(zip(report.ratings, known, strict=True))
    ]
    return RowChart(
        caption="Ratings of all agents",
        scale=scale,
        ticks=[(tick, elo(tick)) for tick in ticks(scale.low, scale.high, 9, ELO_STEPS)],
        rows=rows,
        heads=("agent", "Elo", level),
        zero=0.0,
        lanes=1 + max(lanes(groups), default=-1),
        axis_title=f"Elo, with {level} intervals" if any(map(has_end, known)) else "Elo",
    )


def name_with_mark(report: ReportData, name: str) -> Html:
    """Return an agent's name, with a mark if the run excluded the agent."""
    return join([name_of(name), f" ({EXCLUDED})" if name in report.exclusion_names else None])


def _texts(report: ReportData, row: EloRow) -> list[str]:
    known = rating_of(row)
    value = DASH if known.value is None else elo(known.value)
    if row.agent in report.exclusion_names:
        return [value, EXCLUDED]
    return [value, elo_ends(known) if has_end(known) or not known.reason else known.reason]


def _numbers(report: ReportData, row: EloRow) -> tuple[Inside, ...]:
    elos = ["" if end is None else elo(end, 1) for end in (row.elo, row.elo_low, row.elo_high)]
    return (
        name_with_mark(report, row.agent),
        str(row.rank),
        *elos,
        points(row.points),
        count(row.games),
        count(row.openings),
        "" if row.n_eff is None else f"{row.n_eff:.0f}",
        count(row.forfeits),
        *_speeds(report, row.agent),
    )


def _speeds(report: ReportData, agent: str) -> tuple[str, str]:
    speed = agent_timings(report.timings).get(agent, AgentTiming())
    return move_time(speed), search_speed(speed)


def _group_heading(report: ReportData, place: int) -> str:
    """Return the heading above the first agent of a group, if there are several groups."""
    group = report.ratings[place].group
    if len({row.group for row in report.ratings}) == 1:
        return ""
    return f"group {group}" if not place or report.ratings[place - 1].group != group else ""


def _notes(report: ReportData, groups: Sequence[InseparableGroup]) -> Html:
    apart = None
    if groups:
        names = join([group_html(report, group) for group in groups], "; ")
        apart = tag(
            "p", "Not separated by their own matches: ", names,
            ". Bands of two agents may overlap although their match is clear: the same openings "
            "move all ratings together. For a pair look at the ",
            tag("a", "matches", href="#matrix"), ".", class_="note",
        )  # fmt: skip
    return join([apart, glossary(report)])


def glossary(report: ReportData) -> Html:
    """Explain the short forms below the first table of the page."""
    matches = report.matches()
    if not matches:
        return Html("")
    row = matches[0]
    results = f"{row.first_wins + row.second_wins}-{row.first_draws + row.second_draws}-"
    results += f"{row.first_losses + row.second_losses}"
    meanings = (
        (results, "games won, drawn and lost by the agent named first."),
        (
            f"K = {report.openings:,}",
            "different openings. Two games from one opening are one observation, not two.",
        ),
        (
            "n_eff",
            "effective sample size: how many independent pairs of games would be as certain; "
            "fewer than were played where openings repeat or agents share them.",
        ),
    )
    rows = (join([tag("dt", short), tag("dd", long)]) for short, long in meanings)
    more = tag("p", tag("a", "All words", href="#words"), class_="note")
    measured = tag("p", NOT_REPRODUCIBLE, class_="note") if not report.has_two_agents else None
    return join([measured, tag("dl", join(rows), class_="glossary"), more])


def lanes(groups: Sequence[InseparableGroup]) -> list[int]:
    """Return a lane for the bracket of each group so that no brackets overlap."""
    chosen: list[int] = []
    for place, group in enumerate(groups):
        taken = {chosen[at] for at in range(place) if groups[at].last >= group.first}
        chosen.append(min(set(range(len(groups))) - taken))
    return chosen


def brackets(groups: Sequence[InseparableGroup], place: int, height: int) -> Html:
    """Return the parts of all brackets at the row of a place."""
    parts = []
    for group, lane in zip(groups, lanes(groups), strict=True):
        if group.first <= place <= group.last:
            x = LANE * lane + 2
            top = height / 2 - 5 if place == group.first else 0
            bottom = height / 2 + 5 if place == group.last else height
            start = f"M{x + 4} {top:g}H{x}" if place == group.first else f"M{x} {top:g}"
            end = f"V{bottom:g}H{x + 4}" if place == group.last else f"V{bottom:g}"
            parts.append(tag("path", d=f"{start}{end}", class_="bracket"))
    return join(parts)


def _points_chart(report: ReportData) -> RowChart:
    most = max((row.games for row in report.ratings), default=1) or 1
    scale = Scale(0.0, float(most))
    rows = [
        ChartRow(
            row.agent,
            join([rect(0, 100, 9, 10, "track"), rect(0, scale.at(row.points), 9, 10, "even")]),
            [f"{points(row.points)} of {count(row.games)}"
             + f", {EXCLUDED}" * (row.agent in report.exclusion_names)],
            place=row.rank,
        )
        for row in report.ratings
    ]  # fmt: skip
    return RowChart("Points of all agents", scale, (), rows, ("agent", "points"))


def _few_openings_figure(report: ReportData) -> Figure:
    chart = _points_chart(report)
    table = FigureTable(
        ("agent", "place", "points", "games", "share", "forfeits", *MEASURED_HEADS),
        tuple(
            (
                name_with_mark(report, row.agent), str(row.rank), points(row.points),
                count(row.games), share(row.points / (row.games or 1)), count(row.forfeits),
                *_speeds(report, row.agent),
            )
            for row in report.ratings
        ),
    )  # fmt: skip
    lead = lead_paragraph(
        f"{count_noun(report.openings, 'opening')}: these are ",
        strong(f"results of {count_noun(report.games.size, 'particular game')}"),
        ". They say little about other openings: below "
        f"{FEW_OPENINGS} openings a rating has no interval, so none is drawn.",
    )
    body = join([chart_html(chart), table_details(table, "The standing in numbers")])
    return Figure("Standing", lead, chart_picture(chart), table, body, glossary(report))
