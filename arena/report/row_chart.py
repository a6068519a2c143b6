"""A chart with one row per agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.report.html import Html, Inside, isolate, join, tag
from arena.report.svg import (
    INSIDE,
    Picture,
    Scale,
    cut,
    embed,
    fitted,
    grid,
    inline_svg,
    labels,
)

ROW = 28
AXIS = 20
NAMES, TEXTS = 180, 84  # pixels of a picture in a file
LONGEST_NAME = 26  # characters, on a page


class ChartRow(NamedTuple):
    """A row: its name, what is drawn, the numbers beside it; `lane` is drawn beside the name."""

    label: str
    marks: Html
    texts: Sequence[str]
    lane: Html | None = None
    above: str = ""  # a line above this row, where a group begins
    place: int | None = None  # in the official order


@dataclass(frozen=True, slots=True)
class RowChart:
    """All rows with their axis; `heads` are those of the names and of the numbers."""

    caption: str
    scale: Scale
    ticks: Sequence[tuple[float, str]]
    rows: Sequence[ChartRow]
    heads: Sequence[str]
    zero: float | None = None
    height: int = ROW
    lanes: int = 0


def grid_lines(chart: RowChart) -> Html:
    """The lines behind the marks of a row."""
    return grid(chart.scale, [tick for tick, _ in chart.ticks], chart.height, chart.zero)


def axis(chart: RowChart, width: float | None = None) -> Picture:
    """The labels of the scale."""
    return Picture(AXIS, labels(chart.scale, chart.ticks, 14, width))


def chart_html(chart: RowChart) -> Html:
    """The chart as a table; the strips are decoration, for their numbers stand beside them."""
    behind = grid_lines(chart)
    heads = [
        tag("th", chart.heads[0], scope="col", class_="who"),
        tag("td", class_="lane") if chart.lanes else None,
        tag("td", inline_svg(axis(chart)), class_="strip"),
        *(tag("th", head, scope="col", class_="n") for head in chart.heads[1:]),
    ]
    body = join(join([_above(chart, row), _row(chart, row, behind)]) for row in chart.rows)
    return tag(
        "table",
        tag("caption", chart.caption, class_="hidden"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", body),
        class_="chart",
    )


def _above(chart: RowChart, row: ChartRow) -> Html | None:
    columns = 2 + len(row.texts) + bool(chart.lanes)
    return tag("tr", tag("td", row.above, colspan=columns), class_="group") if row.above else None


def _row(chart: RowChart, row: ChartRow, behind: Html) -> Html:
    lane = row.lane or Html("")
    strip = inline_svg(Picture(chart.height, join([behind, row.marks])))
    return tag(
        "tr",
        tag(
            "th",
            None if row.place is None else tag("span", row.place, class_="place"),
            tag("bdi", cut(row.label, LONGEST_NAME)),
            scope="row",
            class_="who",
            title=isolate(row.label) if len(row.label) > LONGEST_NAME else None,
        ),
        tag("td", _lanes(chart, lane), class_="lane") if chart.lanes else None,
        tag("td", strip, class_="strip"),
        *(
            tag("td", text, class_="n first" if column == 0 else "n")
            for column, text in enumerate(row.texts)
        ),
    )


def _lanes(chart: RowChart, lane: Html) -> Html:
    return tag("svg", lane, width=8 * chart.lanes, height=chart.height, aria_hidden="true")


def chart_picture(chart: RowChart) -> Picture:
    """The chart as one drawing of a fixed width."""
    texts = max((len(row.texts) for row in chart.rows), default=0)
    right = INSIDE - TEXTS * texts - 30 * max(texts - 1, 0)
    lanes = 8 * chart.lanes
    strip = right - NAMES - lanes - 14
    parts: list[Html] = [embed(NAMES + lanes, 0, strip, axis(chart, strip))]
    top: float = AXIS
    for head, text in enumerate(chart.heads[1 : 1 + texts]):
        parts.append(_text(_column(right, head), 14, text, ""))
    behind = grid_lines(chart)
    for row in chart.rows:
        if row.above:
            parts.append(_text(0, top + 17, row.above, ""))
            top += ROW
        base = top + chart.height / 2 + 4
        name = row.label if row.place is None else f"{row.place}  {row.label}"
        parts.append(_text(0, base, fitted(name, NAMES - 8), "strong"))
        if row.lane:
            parts.append(embed(NAMES, top, lanes, Picture(chart.height, row.lane)))
        marks = Picture(chart.height, join([behind, row.marks]))
        parts.append(embed(NAMES + lanes, top, strip, marks))
        parts += [
            _text(_column(right, column), base, text, "" if column else "strong")
            for column, text in enumerate(row.texts)
        ]
        top += chart.height
    return Picture(int(top) + 4, join(parts))


def _column(right: float, column: int) -> float:
    return right + TEXTS * column


def _text(x: float, y: float, inside: Inside, kind: str) -> Html:
    return tag("text", inside, x=f"{x:g}", y=f"{y:g}", class_=kind or None)
