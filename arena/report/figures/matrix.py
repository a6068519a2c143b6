"""The matches of all agents: a table of scores, coloured by their intervals."""

import math
from functools import partial

from arena.analysis.tables import WinRateRow
from arena.report.chart import with_axis_title
from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong, table_details
from arena.report.html import Html, isolate, join, name_of, tag
from arena.report.numbers import (
    bare_share,
    cell_ends,
    confidence,
    count,
    decisive_end,
    has_interval,
    score_of,
    share,
    share_ends,
    simultaneous_score_of,
)
from arena.report.palette import RAMP_STEPS, ramp_class
from arena.report.svg import PICTURE_WIDTH, Picture, shorten_to_width, text_width

MOST_NAMED = 12  # agents whose columns have names; with more agents columns have numbers
MOST_NUMBERED = 24  # agents whose cells have numbers; with more agents cells are smaller
MOST_SMALL = 40  # agents; with more agents all rows fit on one screen, too
MOST_SHOWN = 60  # agents: the cells of more agents would be most of the page
CELL, ROW = 66, 42  # pixels
NUMBERED, SMALL = 42, 28  # pixels of the cells of many agents
HEAD_WIDTH, NAMES_ON_PAGE, LONGEST_NAMES = 58, 150, 220
HEAD_SIZE = 11  # of the font, in pixels
AXIS_TITLE = "score of row against column, in per cent"  # short, for narrow columns


def matrix_figure(report: ReportData) -> Figure | None:
    """Return the matrix; None for two agents."""
    if report.has_two_agents:
        return None
    level = confidence(report.ratings[0].level)
    if _shows_points(report):
        lead = lead_paragraph(
            "Games won, drawn and lost by the row's agent are in the table below, and appear for "
            "the cell that you point at. ",
            strong("Colour shows the share of points, not how certain it is"),
            ": the openings are too few for inference.",
        )
    elif not report.has_intervals:
        lead = lead_paragraph(
            "Games won, drawn and lost by the row's agent. ",
            strong("There is no colour"),
            ", as the openings are too few for inference.",
        )
    else:
        lead = lead_paragraph(
            "Points won by the row's agent against the column's, in per cent; the ",
            f"{level} interval {_interval_place(report)}. ",
            strong("Colour shows the end of the interval nearer to 50\u00a0%"),
            ": a cell is grey and dashed if the interval includes 50\u00a0%.",
        )
    lead = join([lead, _simultaneous_note(report), _omission_note(report)])
    uncoloured = not report.has_intervals and not _shows_points(report)
    scale = None if uncoloured else colour_scale(intervals=report.has_intervals)
    numbers = match_numbers(report)
    details = len(report.agents) <= MOST_NUMBERED and table_details(numbers, "Matches in numbers")
    body = join([scale, _table(report), details or None])
    return Figure("Matches", lead, _picture(report), numbers, body)


def _simultaneous_note(report: ReportData) -> Html | None:
    matches = len(report.matches())
    if matches < 2 or not report.has_intervals:
        return None
    level = confidence(report.ratings[0].level)
    place = "the numbers below" if len(report.agents) <= MOST_NUMBERED else "win_rates.parquet"
    return lead_paragraph(
        f"Each of these intervals is for its match alone: of {matches} at {level}, some may be "
        f"wrong. Wider ones, that hold for all {matches} at once with {level} (Bonferroni), are "
        f"in {place}."
    )


def _interval_place(report: ReportData) -> str:
    size = _size_class(len(_top_agents(report)))
    if not size:
        return "is below"
    what = "and the numbers are" if size.startswith("small") else "is"
    return f"{what} shown for the cell that you point at"


def _shows_points(report: ReportData) -> bool:
    """Return whether colours show shares of points, as small cells have no numbers."""
    return not report.has_intervals and _size_class(len(_top_agents(report))).startswith("small")


def colour_scale(
    worse: str = "row loses", better: str = "row wins", intervals: bool = True
) -> Html:
    """Return the scale of colours, with the mark of cells whose interval includes 50 %."""
    steps = join(tag("i", class_=f"r{step}") for step in range(0, RAMP_STEPS + 1, 2))
    unsettled = (
        tag("span", class_="even swatch", aria_hidden="true"),
        "interval includes 50\u00a0%",
    )
    return tag(
        "p", worse, tag("span", steps, class_="ramp", aria_hidden="true"), better,
        *(unsettled if intervals else ()), class_="scale",
    )  # fmt: skip


def _top_agents(report: ReportData) -> tuple[str, ...]:
    return report.agents[:MOST_SHOWN]


def _omission_note(report: ReportData) -> Html | None:
    agents = len(report.agents)
    if agents <= MOST_SHOWN:
        return None
    return lead_paragraph(f"Shown are the {MOST_SHOWN} strongest of {agents} agents. All are in "
                     "win_rates.parquet.")  # fmt: skip


def _table(report: ReportData) -> Html:
    names = _top_agents(report)
    size = _size_class(len(names))
    heads = [
        str(place) if size else shorten_to_width(name, HEAD_WIDTH)
        for place, name in enumerate(names, 1)
    ]
    tops = [
        tag("th", head, scope="col", title=isolate(name) if head != name else None)
        for head, name in zip(heads, names, strict=True)
    ]
    rows = (
        tag(
            "tr",
            _row_head(place, name),
            *(_cell(report, name, other, size) for other in names),
        )
        for place, name in enumerate(names, 1)
    )
    inside = tag(
        "table",
        tag("caption", "Scores of the row's agent against the column's", class_="hidden"),
        tag("thead", tag("tr", tag("td"), *tops)),
        tag("tbody", join(rows)),
        class_=f"matrix {size}".strip(),
        data_grid="",
    )
    return tag("div", inside, class_="wide", tabindex=0, role="region", aria_label="Matches")


def _size_class(agents: int) -> str:
    """Return the class of the table, which decides the size of its cells."""
    for most, name in ((MOST_NAMED, ""), (MOST_NUMBERED, "numbered"), (MOST_SMALL, "small")):
        if agents <= most:
            return name
    return "small tiny"


def _row_head(place: int, name: str) -> Html:
    short = shorten_to_width(name, NAMES_ON_PAGE)
    return tag(
        "th", tag("span", place, class_="place"), name_of(short), scope="row",
        title=isolate(name) if short != name else None,
    )  # fmt: skip


def _cell(report: ReportData, name: str, other: str, size: str) -> Html:
    row = report.pairs.get((name, other))
    if row is None:
        return tag("td", class_="none")
    known = score_of(row)
    kind, content = "plain", join([wdl_text(row)])
    if known.value is not None and has_interval(known):
        end = decisive_end(known)
        kind = "even" if end is None else ramp_class(end)
        ends = None if size else tag("small", cell_ends(known))
        content = join([bare_share(known.value), ends])
    elif _shows_points(report):
        kind = _points_class(row)
    if size.startswith("small"):
        content = tag("span", content, class_="hidden")
    return tag("td", content, class_=kind, data_tip=_tip(row), data_a=name, data_b=other)


def _points_class(row: WinRateRow) -> str:
    return ramp_class(_points_share(row))


def _points_share(row: WinRateRow) -> float:
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    return (wins + 0.5 * draws) / (row.games or 1)


def wdl_text(row: WinRateRow) -> str:
    """Return the games that an agent won, drew and lost: `12-3-5`."""
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    return f"{wins}-{draws}-{row.first_losses + row.second_losses}"


def _tip(row: WinRateRow) -> str:
    lead = f"{isolate(row.agent)} against {isolate(row.opponent)}: {row.text}"
    if row.first_mover_score is None:
        return lead
    return (
        f"{lead}. Moving first {row.first_wins}-{row.first_draws}-{row.first_losses}, "
        f"second {row.second_wins}-{row.second_draws}-{row.second_losses}"
    )


def match_numbers(report: ReportData) -> FigureTable:
    """Return a row for each match: the score, its intervals, results and sizes."""
    rows, shown, matches = [], frozenset(_top_agents(report)), len(report.matches())
    for row in report.matches():
        if row.agent not in shown or row.opponent not in shown:
            continue
        known = score_of(row)
        value = known.reason if known.value is None else share(known.value)
        sizes = (
            wdl_text(row),
            count(row.openings),
            "" if row.n_eff is None else f"{row.n_eff:.0f}",
        )
        ends = share_ends(known), *((share_ends(simultaneous_score_of(row)),) * (matches > 1))
        rows.append((name_of(row.agent), name_of(row.opponent), value, *ends, *sizes))
    level = confidence(report.ratings[0].level)
    intervals = f"{level} interval", *((f"{level} for all {matches}",) * (matches > 1))
    head = ("agent", "opponent", "score", *intervals, "won-drawn-lost", "openings", "n_eff")
    return FigureTable(head, tuple(rows), text_columns=2)


def _picture(report: ReportData, width: int = PICTURE_WIDTH) -> Picture:
    """Return the matrix as a drawing, which is wider for many agents."""
    names = _top_agents(report)
    most = min(LONGEST_NAMES, max(width / 3, 90))
    labels = [shorten_to_width(f"{place}  {name}", most) for place, name in enumerate(names, 1)]
    side = max(map(text_width, labels)) + 10
    least = {"": CELL, "numbered": NUMBERED, "small": SMALL}[
        _size_class(len(names)).partition(" ")[0]
    ]
    wide = min(CELL, max(least, (width - side) / len(names)))
    high = min(ROW, max(SMALL, round(wide * 0.64)))
    parts: list[Html | None] = []
    for row, (name, label) in enumerate(zip(names, labels, strict=True)):
        top = 24 + row * high
        head = shorten_to_width(name, wide - 6, HEAD_SIZE) if wide == CELL else str(row + 1)
        parts.append(_text(0, top + high / 2 + 4, label, "strong"))
        parts.append(_text(side + (row + 0.5) * wide, 14, head, "small", "middle"))
        for column, other in enumerate(names):
            place = side + column * wide, top, wide, high
            parts.append(_draw_cell(report, (name, other), place))
    whole = Picture(
        24 + len(names) * high, join(parts), max(width, math.ceil(side + len(names) * wide))
    )
    return with_axis_title(whole, AXIS_TITLE)._replace(redraw=partial(_picture, report))


def _draw_cell(
    report: ReportData, pair: tuple[str, str], place: tuple[float, float, float, float]
) -> Html | None:
    row = report.pairs.get(pair)
    if row is None:
        return None
    left, top, wide, high = place
    known = score_of(row)
    end = decisive_end(known) if report.has_intervals else None
    kind = None if end is None else ramp_class(end)
    kind = _points_class(row) if _shows_points(report) else kind
    box = tag(
        "rect", x=f"{left + 1:g}", y=f"{top + 1:g}", width=f"{wide - 2:g}",
        height=f"{high - 2:g}", class_=kind or "open",
    )  # fmt: skip
    plain = known.value is None or not has_interval(known)
    content = wdl_text(row) if plain else bare_share(known.value or 0.0)
    if text_width(content) > wide:  # whole per cent fit into the smallest cells
        content = f"{100 * _points_share(row):.0f}"
    middle, base = left + wide / 2, top + high / 2 + 4
    number, ends = _text(middle, base, content, "cell", "middle"), None
    if high >= 36 and not plain:
        number = _text(middle, base - 6, content, "cell", "middle")
        ends = _text(middle, base + 9, cell_ends(known), "cell light", "middle")
    # The class of the group colours the text; a border there would also be drawn on letters.
    return tag("g", join([box, number, ends]), class_=kind)


def _text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> Html:
    return tag("text", content, x=f"{x:g}", y=f"{y:g}", class_=kind, text_anchor=anchor)
