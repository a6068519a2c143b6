"""The ratings of three agents and more; with few openings the standing, which is no measurement."""

from collections.abc import Sequence

from arena.analysis.tables import EloRow
from arena.report.chart import ticks
from arena.report.data import Report
from arena.report.figure import Figure, NumberTable, numbers_below, sentences, strong
from arena.report.html import Html, Inside, joined, name_of, tag
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
from arena.report.row_chart import ChartRow, RowChart, as_picture, on_a_page
from arena.report.svg import Scale, block, interval
from arena.report.unsettled import Run, brackets, in_words, lanes, runs
from arena.stats.elo import score_from_elo

ROOM = 0.04  # of the scale, beyond the widest interval
NARROWEST = 40.0  # Elo on each side of the middle
EXPLAINED = 200  # Elo
ELO_STEPS = (1, 2, 5, 10)  # nobody reads a scale in steps of 250


def figure(report: Report) -> Figure | None:
    """The strips of all agents; None for two, whose difference is in the answer."""
    if report.two or (report.standing and report.points):  # the table by points says it all
        return None
    return _standing(report) if report.standing else _ratings(report)


def _ratings(report: Report) -> Figure:
    chart = _chart(report, runs(report))
    level = confidence(report.ratings[0].level)
    zero = f"the mean of the {len(report.agents)} is 0"
    if len({row.group for row in report.ratings}) > 1:
        zero = "in each group the mean is 0, and groups cannot be compared"
    band = f", the band holds the true value in {level.rstrip('%')}of 100 such runs"
    bounded = any(rating_of(row).bounded for row in report.ratings)
    lead = sentences(
        f"A dot is the best estimate{band if bounded else ''}. "
        f"Elo has no zero of its own: here {zero}; ",
        strong(
            f"{EXPLAINED} Elo more means about {100 * score_from_elo(EXPLAINED):.0f}{NO_BREAK}% "
            "of the points"
        ),
        ".",
    )
    table = NumberTable(
        ("agent", "place", "Elo", "from", "to", "points", "games", "openings", "n_eff", "forfeits"),
        tuple(_numbers(row) for row in report.ratings),
    )
    body = joined([on_a_page(chart), numbers_below(table, "Ratings in numbers")])
    return Figure("Ratings", lead, as_picture(chart), table, body, _notes(report))


def _chart(report: Report, found: Sequence[Run]) -> RowChart:
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
            _texts(row),
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


def _texts(row: EloRow) -> list[str]:
    known = rating_of(row)
    value = "\u2013" if known.value is None else elo(known.value)
    return [value, elo_ends(known) if known.bounded or not known.why else known.why]


def _numbers(row: EloRow) -> tuple[Inside, ...]:
    known = rating_of(row)
    elos = ["" if end is None else elo(end, 1) for end in known[:3]]
    sizes = points(row.points), count(row.games), count(row.openings)
    return (
        name_of(row.agent),
        str(row.rank),
        *elos,
        *sizes,
        "" if row.n_eff is None else f"{row.n_eff:.0f}",
        count(row.forfeits),
    )


def _group(report: Report, place: int) -> str:
    """What stands above the first agent of a group, if there are several."""
    group = report.ratings[place].group
    if len({row.group for row in report.ratings}) == 1:
        return ""
    return f"group {group}" if not place or report.ratings[place - 1].group != group else ""


def _notes(report: Report) -> Html:
    groups = [in_words(report, run) for run in runs(report)]
    apart = None
    if groups:
        apart = tag(
            "p", "Not told apart by their own matches: ", joined(groups, "; "),
            ". Bands of two agents may overlap although their match is clear: the same openings "
            "move all ratings together. For a pair look at ",
            tag("a", "who beat whom", href="#matrix"), ".", class_="note",
        )  # fmt: skip
    return joined([apart, glossary(report)])


def glossary(report: Report) -> Html:
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
    rows = (joined([tag("dt", short), tag("dd", long)]) for short, long in meanings)
    return tag("dl", joined(rows), class_="glossary")


def points_chart(report: Report) -> RowChart:
    """A bar for each agent, in the official order."""
    most = max((row.games for row in report.ratings), default=1) or 1
    scale = Scale(0.0, float(most))
    rows = [
        ChartRow(
            row.agent,
            joined([
                block(0, 100, 9, 10, "track"), block(0, scale.at(row.points), 9, 10, "even")
            ]),
            [f"{points(row.points)} of {count(row.games)}"],
            place=row.rank,
        )
        for row in report.ratings
    ]  # fmt: skip
    return RowChart("Points of all agents", scale, (), rows, ("agent", "points"))


def _standing(report: Report) -> Figure:
    chart = points_chart(report)
    table = NumberTable(
        ("agent", "place", "points", "games", "share", "forfeits"),
        tuple(
            (
                name_of(row.agent), str(row.rank), points(row.points), count(row.games),
                share(row.points / (row.games or 1)), count(row.forfeits),
            )
            for row in report.ratings
        ),
    )  # fmt: skip
    lead = sentences(
        f"{counted(report.openings, 'opening')}: these are ",
        strong(f"results of {counted(report.games.size, 'particular game')}"),
        ". They say little about other openings, so there are no ratings and no bands.",
    )
    body = joined([on_a_page(chart), numbers_below(table, "The standing in numbers")])
    return Figure("Standing", lead, as_picture(chart), table, body, glossary(report))
