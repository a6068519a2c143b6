"""Who beat whom: a table of scores, coloured by what the games have settled."""

import math

from arena.analysis.tables import WinRateRow
from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, lead_paragraph, strong
from arena.report.html import Html, isolate, join, name_of, tag
from arena.report.numbers import (
    bare_share,
    cell_ends,
    confidence,
    count,
    score_of,
    share,
    share_ends,
)
from arena.report.palette import STEPS, step_of
from arena.report.svg import INSIDE, Picture, fitted, text_width

MOST_NAMED = 12  # agents whose names stand above their columns; more of them have numbers there
MOST_NUMBERED = 24  # agents; more of them have smaller cells without numbers
MOST_SHOWN = 60  # agents: nobody reads more, and their cells would be most of the page
CELL, ROW = 66, 42  # pixels
NUMBERED, SMALL = 42, 28  # pixels of the cells of many agents, room for 100
HEAD_WIDTH, NAMES_ON_PAGE, LONGEST_NAMES = 58, 150, 220
HEAD_SIZE = 11  # of the font, in pixels


def figure(report: ReportData) -> Figure | None:
    """The matrix of all agents; None for two."""
    if report.two:
        return None
    level = confidence(report.ratings[0].level)
    if _coloured_by_score(report):
        lead = lead_paragraph(
            "Games won, drawn and lost by the row's agent stand below, and in the cell that you "
            "point at. ",
            strong("Colour shows the share of points, not how sure it is"),
            ": nothing can be inferred from so few openings.",
        )
    elif not report.measured:
        lead = lead_paragraph(
            "Games won, drawn and lost by the row's agent. ",
            strong("No colour, because nothing can be inferred"),
            " from so few openings.",
        )
    else:
        lead = lead_paragraph(
            "Points won by the row's agent against the column's, in per cent; the ",
            f"{level} interval {_where_intervals(report)}. ",
            strong("Colour shows the end of the interval nearer to 50\u00a0%"),
            ": what the games have not settled stays grey and dashed.",
        )
    lead = join([lead, _left_out(report)])
    uncoloured = not report.measured and not _coloured_by_score(report)
    scale = None if uncoloured else colour_scale(intervals=report.measured)
    body = join([scale, _table(report)])
    return Figure("Who beat whom", lead, _picture(report), _numbers(report), body)


def _where_intervals(report: ReportData) -> str:
    """Where a reader of the page finds the intervals."""
    size = _size(len(_shown(report)))
    if not size:
        return "stands below"
    what = "and the numbers are" if size == "small" else "is"
    return f"{what} shown for the cell that you point at"


def _coloured_by_score(report: ReportData) -> bool:
    """Whether colours show scores that nothing can be inferred from: cells too small for numbers.

    Without colours such a matrix would be blank.
    """
    return not report.measured and _size(len(_shown(report))) == "small"


def colour_scale(
    worse: str = "row loses", better: str = "row wins", intervals: bool = True
) -> Html:
    """The scale of colours with its ends in words, and the mark of unsettled cells if there are."""
    steps = join(tag("i", class_=f"r{step}") for step in range(0, STEPS + 1, 2))
    unsettled = (
        tag("span", class_="even swatch", aria_hidden="true"),
        "interval includes 50\u00a0%",
    )
    return tag(
        "p", worse, tag("span", steps, class_="ramp", aria_hidden="true"), better,
        *(unsettled if intervals else ()), class_="scale",
    )  # fmt: skip


def _shown(report: ReportData) -> tuple[str, ...]:
    """The agents of the matrix."""
    return report.agents[:MOST_SHOWN]


def _left_out(report: ReportData) -> Html | None:
    """What the matrix does not show."""
    agents = len(report.agents)
    if agents <= MOST_SHOWN:
        return None
    return lead_paragraph(f"Shown are the {MOST_SHOWN} strongest of {agents} agents: all are in "
                     "win_rates.parquet.")  # fmt: skip


def _table(report: ReportData) -> Html:
    names = _shown(report)
    size = _size(len(names))
    heads = [
        str(place) if size else fitted(name, HEAD_WIDTH) for place, name in enumerate(names, 1)
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
    return tag("div", inside, class_="wide", tabindex=0, role="region", aria_label="Who beat whom")


def _size(agents: int) -> str:
    """The class of the table, by which cells shrink until all columns have room."""
    return "" if agents <= MOST_NAMED else "numbered" if agents <= MOST_NUMBERED else "small"


def _row_head(place: int, name: str) -> Html:
    short = fitted(name, NAMES_ON_PAGE)
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
    if known.value is not None and known.measured:
        settled = known.settled
        kind = "even" if settled is None else step_of(settled)
        ends = None if size else tag("small", cell_ends(known))
        content = join([bare_share(known.value), ends])
    elif _coloured_by_score(report):
        kind = _step_of_points(row)
    if size == "small":
        content = tag("span", content, class_="hidden")
    return tag("td", content, class_=kind, data_tip=_tip(row), data_a=name, data_b=other)


def _step_of_points(row: WinRateRow) -> str:
    """The colour of the share of points that the agent won."""
    return step_of(_share_of_points(row))


def _share_of_points(row: WinRateRow) -> float:
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    return (wins + 0.5 * draws) / (row.games or 1)


def wdl_text(row: WinRateRow) -> str:
    """The results of both seats together."""
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


def _numbers(report: ReportData) -> FigureTable:
    """Every pair once, for files and readers of the table."""
    rows, shown = [], frozenset(_shown(report))
    for row in report.met():
        if row.agent not in shown or row.opponent not in shown:
            continue
        known = score_of(row)
        value = known.why if known.value is None else share(known.value)
        sizes = (
            wdl_text(row),
            count(row.openings),
            "" if row.n_eff is None else f"{row.n_eff:.0f}",
        )
        rows.append((name_of(row.agent), name_of(row.opponent), value, share_ends(known), *sizes))
    head = ("agent", "opponent", "score", "interval", "won-drawn-lost", "openings", "n_eff")
    return FigureTable(head, tuple(rows), words=2)


def _picture(report: ReportData) -> Picture:
    """The matrix as a drawing; it grows with the number of agents, when its cells are small."""
    names = _shown(report)
    labels = [fitted(f"{place}  {name}", LONGEST_NAMES) for place, name in enumerate(names, 1)]
    side = max(map(text_width, labels)) + 10
    least = {"": CELL, "numbered": NUMBERED, "small": SMALL}[_size(len(names))]
    wide = min(CELL, max(least, (INSIDE - side) / len(names)))
    high = min(ROW, max(SMALL, round(wide * 0.64)))
    parts: list[Html | None] = []
    for row, (name, label) in enumerate(zip(names, labels, strict=True)):
        top = 24 + row * high
        head = fitted(name, wide - 6, HEAD_SIZE) if len(names) <= MOST_NAMED else str(row + 1)
        parts.append(_text(0, top + high / 2 + 4, label, "strong"))
        parts.append(_text(side + (row + 0.5) * wide, 14, head, "small", "middle"))
        for column, other in enumerate(names):
            place = side + column * wide, top, wide, high
            parts.append(_drawn(report, (name, other), place))
    width = max(INSIDE, math.ceil(side + len(names) * wide))
    return Picture(30 + len(names) * high, join(parts), width)


def _drawn(
    report: ReportData, pair: tuple[str, str], place: tuple[float, float, float, float]
) -> Html | None:
    row = report.pairs.get(pair)
    if row is None:
        return None
    left, top, wide, high = place
    known = score_of(row)
    settled = known.settled if report.measured else None
    kind = None if settled is None else step_of(settled)
    kind = _step_of_points(row) if _coloured_by_score(report) else kind
    box = tag(
        "rect", x=f"{left + 1:g}", y=f"{top + 1:g}", width=f"{wide - 2:g}",
        height=f"{high - 2:g}", class_=kind or "open",
    )  # fmt: skip
    plain = known.value is None or not known.measured
    content = wdl_text(row) if plain else bare_share(known.value or 0.0)
    if text_width(content) > wide:  # whole per cent fit into the smallest cells
        content = f"{100 * _share_of_points(row):.0f}"
    middle, base = left + wide / 2, top + high / 2 + 4
    number, ends = _text(middle, base, content, "cell", "middle"), None
    if high >= 36 and not plain:
        number = _text(middle, base - 6, content, "cell", "middle")
        ends = _text(middle, base + 9, cell_ends(known), "cell light", "middle")
    # The group has the colour of the text, and no border: letters would get it, too.
    return tag("g", join([box, number, ends]), class_=kind)


def _text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> Html:
    return tag("text", content, x=f"{x:g}", y=f"{y:g}", class_=kind, text_anchor=anchor)
