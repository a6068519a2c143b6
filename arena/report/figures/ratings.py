"""The ratings of three agents and more; with few openings the standing, which is no measurement."""

from collections.abc import Sequence

from arena.analysis.exclusions import EXCLUDED
from arena.analysis.tables import EloRow
from arena.report.chart import ticks
from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_details
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import (
    NO_BREAK,
    confidence,
    count,
    counted,
    elo,
    elo_ends,
    points,
    rating_of,
    share,
)
from arena.report.row_chart import ChartRow, RowChart, chart_html, chart_picture
from arena.report.svg import Scale, interval, rect
from arena.report.unsettled import UnsettledGroup, brackets, group_html, lanes, unsettled_groups
from arena.stats.elo import FEW_OPENINGS, score_from_elo
from arena.stats.estimate import EstimateKind

ROOM = 0.04  # of the scale, beyond the widest interval
NARROWEST = 40.0  # Elo on each side of the middle
EXPLAINED = 200  # Elo
ELO_STEPS = (1, 2, 5, 10)  # nobody reads a scale in steps of 250


def figure(report: ReportData) -> Figure | None:
    """The strips of all agents; None for two, whose difference is in the answer."""
    if report.two or (report.standing and report.points):  # the table by points says it all
        return None
    return _standing(report) if report.standing else _ratings(report)


def _ratings(report: ReportData) -> Figure:
    chart = _chart(report, unsettled_groups(report))
    level = confidence(report.ratings[0].level)
    zero = f"the mean of the {len(report.agents)} is 0"
    if len({row.group for row in report.ratings}) > 1:
        zero = "in each group the mean is 0, and groups cannot be compared"
    band = f", the band holds the true value in {level.rstrip('%')}of 100 such runs"
    if any(row.interval == EstimateKind.ADAPTED for row in report.ratings):
        band = ", the band holds the true value less often than it says: results decided who met"
    bounded = any(rating_of(row).bounded for row in report.ratings)
    lead = lead_paragraph(
        f"A dot is the best estimate{band if bounded else ''}. "
        f"Elo has no zero of its own: here {zero}; ",
        strong(
            f"{EXPLAINED} Elo more means about {100 * score_from_elo(EXPLAINED):.0f}{NO_BREAK}% "
            "of the points"
        ),
        ".",
    )
    table = FigureTable(
        ("agent", "place", "Elo", "from", "to", "points", "games", "openings", "n_eff", "forfeits"),
        tuple(_numbers(report, row) for row in report.ratings),
    )
    body = join([chart_html(chart), table_details(table, "Ratings in numbers")])
    return Figure("Ratings", lead, chart_picture(chart), table, body, _notes(report))


def _chart(report: ReportData, found: Sequence[UnsettledGroup]) -> RowChart:
    known = [rating_of(row) for row in report.ratings]
    ends = [end for each in known for end in each[:3] if end is not None]
    low, high = min([*ends, -NARROWEST]), max([*ends, NARROWEST])
    room = ROOM * (high - low)
    scale = Scale(low - room, high + room)
    across = ticks(scale.low, scale.high, 9, ELO_STEPS)
    rows = [
        ChartRow(
            row.agent,
            interval(scale, rating_of(row), 14, 12, 4),
            _texts(report, row),
            brackets(found, place, 28),
            _group(report, place),
            row.rank,
        )
        for place, row in enumerate(report.ratings)
    ]
    return RowChart(
        caption="Ratings of all agents",
        scale=scale,
        ticks=[(tick, elo(tick)) for tick in across],
        rows=rows,
        heads=("agent", "Elo", confidence(report.ratings[0].level)),
        zero=0.0,
        lanes=1 + max(lanes(found), default=-1),
    )


def marked_name(report: ReportData, name: str) -> Html:
    """An agent's name, marked if the run excluded it."""
    return join([name_of(name), f" ({EXCLUDED})" if name in report.excluded_names else None])


def _texts(report: ReportData, row: EloRow) -> list[str]:
    known = rating_of(row)
    value = "\u2013" if known.value is None else elo(known.value)
    if row.agent in report.excluded_names:
        return [value, EXCLUDED]
    return [value, elo_ends(known) if known.bounded or not known.why else known.why]


def _numbers(report: ReportData, row: EloRow) -> tuple[Inside, ...]:
    known = rating_of(row)
    elos = ["" if end is None else elo(end, 1) for end in known[:3]]
    sizes = points(row.points), count(row.games), count(row.openings)
    return (
        marked_name(report, row.agent),
        str(row.rank),
        *elos,
        *sizes,
        "" if row.n_eff is None else f"{row.n_eff:.0f}",
        count(row.forfeits),
    )


def _group(report: ReportData, place: int) -> str:
    """What stands above the first agent of a group, if there are several."""
    group = report.ratings[place].group
    if len({row.group for row in report.ratings}) == 1:
        return ""
    return f"group {group}" if not place or report.ratings[place - 1].group != group else ""


def _notes(report: ReportData) -> Html:
    groups = [group_html(report, run) for run in unsettled_groups(report)]
    apart = None
    if groups:
        apart = tag(
            "p", "Not told apart by their own matches: ", join(groups, "; "),
            ". Bands of two agents may overlap although their match is clear: the same openings "
            "move all ratings together. For a pair look at ",
            tag("a", "who beat whom", href="#matrix"), ".", class_="note",
        )  # fmt: skip
    return join([apart, glossary(report)])


def glossary(report: ReportData) -> Html:
    """What the short forms mean, below the first table of the page."""
    row = report.met()[0] if report.met() else None
    if row is None:
        return Html("")
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
            "how many independent pairs of games would be as sure; less than played where "
            "openings repeat or agents share them.",
        ),
    )
    rows = (join([tag("dt", short), tag("dd", long)]) for short, long in meanings)
    return tag("dl", join(rows), class_="glossary")


def points_chart(report: ReportData) -> RowChart:
    """A bar for each agent, in the official order."""
    most = max((row.games for row in report.ratings), default=1) or 1
    scale = Scale(0.0, float(most))
    rows = [
        ChartRow(
            row.agent,
            join([
                rect(0, 100, 9, 10, "track"), rect(0, scale.at(row.points), 9, 10, "even")
            ]),
            [f"{points(row.points)} of {count(row.games)}"
             + f", {EXCLUDED}" * (row.agent in report.excluded_names)],
            place=row.rank,
        )
        for row in report.ratings
    ]  # fmt: skip
    return RowChart("Points of all agents", scale, (), rows, ("agent", "points"))


def _standing(report: ReportData) -> Figure:
    chart = points_chart(report)
    table = FigureTable(
        ("agent", "place", "points", "games", "share", "forfeits"),
        tuple(
            (
                marked_name(report, row.agent), str(row.rank), points(row.points),
                count(row.games),
                share(row.points / (row.games or 1)), count(row.forfeits),
            )
            for row in report.ratings
        ),
    )  # fmt: skip
    lead = lead_paragraph(
        f"{counted(report.openings, 'opening')}: these are ",
        strong(f"results of {counted(report.games.size, 'particular game')}"),
        ". They say little about other openings: below "
        f"{FEW_OPENINGS} openings a rating has no interval, so none is drawn.",
    )
    body = join([chart_html(chart), table_details(table, "The standing in numbers")])
    return Figure("Standing", lead, chart_picture(chart), table, body, glossary(report))
