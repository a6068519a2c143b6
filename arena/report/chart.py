"""Line, point and bar charts with two axes, and charts with one row per agent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from arena.report.html import Html, Inside, isolate, join, tag
from arena.report.svg import (
    PICTURE_WIDTH,
    Picture,
    Scale,
    embed,
    grid,
    inline_svg,
    rect,
    shorten,
    shorten_to_width,
    svg_file,
    text_width,
    tick_labels,
)

HEIGHT = 280  # pixels of a chart with two axes
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 10, 46
INK, FAINT, BLUE, RED, GREEN = "ink", "faint", "blue", "red", "green"  # classes of figures.css
STEPS = (1, 2, 2.5, 5, 10)
ROW = 28
AXIS = 20
# Pixels of a picture in a file: the most for names and for a number, the least for the marks.
NAMES, TEXTS, LEAST_STRIP, GAP = 180, 180, 150, 14
NAMES_SHARE = 0.33  # of the width, at most for names
LONGEST_NAME = 26  # characters, on a page


def ticks(low: float, high: float, about: int = 6, steps: Sequence[float] = STEPS) -> list[float]:
    """Return round numbers from `low` to `high`, `about` this number of them."""
    raw = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * each for each in steps if unit * each >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * number, 10) + 0.0 for number in range(first, last + 1)]


class Chart(NamedTuple):
    """A picture with its title, for a page or a file."""

    title: str
    picture: Picture

    def html(self) -> Html:
        """Return the chart as a figure of a page."""
        caption = tag("figcaption", self.title)
        return tag("figure", caption, inline_svg(self.picture, self.title, "xy"))

    def svg(self) -> str:
        """Return the chart as the text of an SVG file."""
        return svg_file(self.picture, self.title, heading=True)


# ------------------------------------------------------------------------- two axes


class Frame(NamedTuple):
    """The ranges of the axes of a chart."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point in pixels."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        wide, high = PICTURE_WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        return LEFT + across * wide, HEIGHT - BOTTOM - up * high


def make_frame(xs: Sequence[float], ys: Sequence[float]) -> Frame:
    """Return a frame that holds these numbers, with a margin above and below."""
    return Frame(_range(xs, 0.0), _range(ys, 0.05))


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = (min(values), max(values)) if len(values) else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    more = margin * (high - low)
    return low - more, high + more


def line(frame: Frame, xs: Sequence[float], ys: Sequence[float], colour: str = BLUE) -> Html:
    """Draw a line through points."""
    return tag("polyline", points=_points(frame, xs, ys), class_=f"plot-line {colour}")


def band(frame: Frame, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Html:
    """Fill the area between two lines."""
    places = _points(frame, [*xs, *reversed(xs)], [*low, *reversed(high)])
    return tag("polygon", points=places, class_="plot-area blue")


def dots(frame: Frame, xs: Sequence[float], ys: Sequence[float], colour: str = INK) -> Html:
    """Draw points."""
    places = (frame.at(float(x), float(y)) for x, y in zip(xs, ys, strict=True))
    return join(
        tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="2.4", class_=f"plot-point {colour}")
        for x, y in places
    )


def error_bars(
    frame: Frame,
    xs: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    colour: str = FAINT,
) -> Html:
    """Draw a vertical bar for the interval of each point."""
    return join(
        _segment(frame.at(x, a), frame.at(x, b), f"plot-error {colour}")
        for x, a, b in zip(xs, low, high, strict=True)
    )


def horizontal_line(frame: Frame, y: float, label: str, colour: str = RED) -> Html:
    """Draw a dashed horizontal line with a label."""
    left, right = frame.at(frame.x[0], y), frame.at(frame.x[1], y)
    text = _label(right[0] - 4, right[1] - 4, label, "end", colour)
    return join([_segment(left, right, f"dashes {colour}"), text])


def vertical_line(frame: Frame, x: float, label: str, colour: str = GREEN) -> Html:
    """Draw a dashed vertical line with a label."""
    bottom, top = frame.at(x, frame.y[0]), frame.at(x, frame.y[1])
    anchor, shift = ("start", 4) if top[0] < PICTURE_WIDTH / 2 else ("end", -4)
    text = _label(top[0] + shift, top[1] + 12, label, anchor, colour)
    return join([_segment(bottom, top, f"dashes {colour}"), text])


def series_label(number: int, name: str, colour: str) -> Html:
    """Print the name of a line below the names of the lines before it."""
    return _label(LEFT + 8, TOP + 14 + 15 * number, name, "start", colour)


def xy_chart(
    frame: Frame,
    parts: Sequence[Html],
    title: str,
    across: str,
    up: str,
    x_ticks: Sequence[tuple[float, str]] = (),
) -> Chart:
    """Return a chart with its axes; `x_ticks` replace the round numbers of the lower axis."""
    marks = join([*_axes(frame, across, up, x_ticks), *parts])
    return Chart(title, Picture(HEIGHT, marks, in_pixels=True))


def _axes(
    frame: Frame, across: str, up: str, x_ticks: Sequence[tuple[float, str]]
) -> Sequence[Html]:
    right, bottom = PICTURE_WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [tag("path", d=f"M{LEFT} {TOP}V{bottom}H{right}", class_="axis")]
    for tick, label in x_ticks or [(tick, f"{tick:g}") for tick in ticks(*frame.x)]:
        x, y = frame.at(tick, frame.y[0])
        parts.append(_segment((x, y), (x, y + 4), "axis"))
        parts.append(_label(x, y + 17, label, "middle"))
    for tick in ticks(*frame.y):
        x, y = frame.at(frame.x[0], tick)
        parts.append(_segment((x, y), (right, y), "grid"))
        parts.append(_label(x - 6, y + 4, f"{tick:g}", "end"))
    turn = f"translate(14 {(TOP + bottom) / 2:g}) rotate(-90)"
    return [
        *parts,
        _label((LEFT + right) / 2, HEIGHT - 8, across, "middle"),
        tag("text", up, transform=turn, text_anchor="middle"),
    ]


def _points(frame: Frame, xs: Sequence[float], ys: Sequence[float]) -> str:
    places = (frame.at(float(x), float(y)) for x, y in zip(xs, ys, strict=True))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _segment(start: tuple[float, float], end: tuple[float, float], kind: str) -> Html:
    (x1, y1), (x2, y2) = start, end
    return tag("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def _label(x: float, y: float, text: Inside, anchor: str, colour: str = "") -> Html:
    kind = f"label {colour}" if colour else None
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


# ------------------------------------------------------------------------- rows


class ChartRow(NamedTuple):
    """A row: its label, its marks and the numbers on its right.

    `lane` is drawn between label and marks, `group_heading` is a line above the row, and `place`
    is the agent's place in the ratings.
    """

    label: str
    marks: Html
    texts: Sequence[str]
    lane: Html | None = None
    group_heading: str = ""
    place: int | None = None


@dataclass(frozen=True, slots=True)
class RowChart:
    """Rows with a common axis; `heads` are the headings of the labels and the numbers.

    Files of figures have `axis_title` below the axis.
    """

    caption: str
    scale: Scale
    ticks: Sequence[tuple[float, str]]
    rows: Sequence[ChartRow]
    heads: Sequence[str]
    zero: float | None = None
    height: int = ROW
    lanes: int = 0
    axis_title: str = ""

    def grid(self) -> Html:
        """Return the lines behind the marks of a row."""
        return grid(self.scale, [tick for tick, _ in self.ticks], self.height, self.zero)

    def axis(self, width: float | None = None) -> Picture:
        """Return the labels of the scale."""
        return Picture(AXIS, tick_labels(self.scale, self.ticks, 14, width))


def chart_html(chart: RowChart) -> Html:
    """Return the chart as a table; screen readers get the numbers and not the marks."""
    behind = chart.grid()
    heads = [
        tag("th", chart.heads[0], scope="col", class_="who"),
        tag("td", class_="lane") if chart.lanes else None,
        tag("td", inline_svg(chart.axis()), class_="strip"),
        *(tag("th", head, scope="col", class_="n") for head in chart.heads[1:]),
    ]
    body = join(join([_group_row(chart, row), _row(chart, row, behind)]) for row in chart.rows)
    return tag(
        "table",
        tag("caption", chart.caption, class_="hidden"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", body),
        class_="chart",
    )


def _group_row(chart: RowChart, row: ChartRow) -> Html | None:
    if not row.group_heading:
        return None
    columns = 2 + len(row.texts) + bool(chart.lanes)
    return tag("tr", tag("td", row.group_heading, colspan=columns), class_="group")


def _row(chart: RowChart, row: ChartRow, behind: Html) -> Html:
    lane = tag(
        "svg", row.lane, width=8 * chart.lanes, height=chart.height, aria_hidden="true"
    )  # fmt: skip
    strip = inline_svg(Picture(chart.height, join([behind, row.marks])))
    return tag(
        "tr",
        tag(
            "th",
            None if row.place is None else tag("span", row.place, class_="place"),
            tag("bdi", shorten(row.label, LONGEST_NAME)),
            scope="row",
            class_="who",
            title=isolate(row.label) if len(row.label) > LONGEST_NAME else None,
        ),
        tag("td", lane, class_="lane") if chart.lanes else None,
        tag("td", strip, class_="strip"),
        *(
            tag("td", text, class_="n first" if column == 0 else "n")
            for column, text in enumerate(row.texts)
        ),
    )


def chart_picture(chart: RowChart, width: int = PICTURE_WIDTH) -> Picture:
    """Return the chart as one drawing; columns of numbers go if the marks get too narrow."""
    lanes = 8 * chart.lanes
    labels = [row.label if row.place is None else f"{row.place}  {row.label}" for row in chart.rows]
    names = min([max(map(text_width, labels), default=0) + 12, NAMES, NAMES_SHARE * width])
    widths = _text_widths(chart)
    while widths and width - names - lanes - sum(widths) < LEAST_STRIP:
        widths.pop()
    left, right = names + lanes, width - sum(widths)
    starts = [right + sum(widths[:column]) + GAP for column in range(len(widths))]
    strip = right - left
    parts: list[Html] = []
    top: float = AXIS if any(chart.heads) else 0
    if top:
        parts.append(_text(0, 14, chart.heads[0], ""))
        heads = chart.heads[1:]
        parts += [_text(x, 14, head, "") for x, head in zip(starts, heads, strict=False)]
    behind = chart.grid()
    for row, label in zip(chart.rows, labels, strict=True):
        if row.group_heading:
            parts.append(_text(0, top + 17, row.group_heading, ""))
            top += ROW
        base = top + chart.height / 2 + 4
        parts.append(_text(0, base, shorten_to_width(label, names - 8), "strong"))
        if row.lane:
            parts.append(embed(names, top, lanes, Picture(chart.height, row.lane)))
        marks = Picture(chart.height, join([behind, row.marks]))
        parts.append(embed(left, top, strip, marks))
        for column, (x, text) in enumerate(zip(starts, row.texts, strict=False)):
            short = shorten_to_width(text, widths[column] - GAP + 1)
            parts.append(_text(x, base, short, "" if column else "strong"))
        top += chart.height
    if chart.ticks:
        parts.append(embed(left, top, strip, chart.axis(strip)))
        top += AXIS
    if chart.axis_title:
        parts.append(
            tag("text", chart.axis_title, x=f"{left + strip / 2:g}", y=top + 14,
                text_anchor="middle")
        )  # fmt: skip
        top += AXIS
    return Picture(int(top) + 4, join(parts), width, redraw=partial(chart_picture, chart))


def with_axis_title(picture: Picture, title: str) -> Picture:
    """Return a picture for a file with the title of its horizontal axis below it."""
    text = tag("text", title, x="50%", y=picture.height + 16, text_anchor="middle")
    return picture._replace(
        height=picture.height + AXIS + 2, marks=join([picture.marks, text]), redraw=None
    )


def _text_widths(chart: RowChart) -> list[float]:
    """Return the widths of the columns of numbers, with the gap before each."""
    columns = max((len(row.texts) for row in chart.rows), default=0)
    return [
        GAP + min(TEXTS, max(text_width(row[column]) for row in (
            *([chart.heads[1:]] if len(chart.heads) > column + 1 else ()),
            *(row.texts for row in chart.rows if len(row.texts) > column))))
        for column in range(columns)
    ]  # fmt: skip


def bar_chart(names: Sequence[str], shares: Sequence[float], title: str) -> Chart:
    """Return a chart with a horizontal bar and the number for every name."""
    scale = Scale(0.0, max([*shares, 1e-9]))
    rows = [
        ChartRow(name, rect(0, scale.at(share), 4, 20, "bar"), [f"{share:.2f}"])
        for name, share in zip(names, shares, strict=True)
    ]
    picture = chart_picture(RowChart(title, scale, (), rows, ("", "")))
    return Chart(title, picture._replace(in_pixels=True))


def _text(x: float, y: float, inside: Inside, kind: str) -> Html:
    return tag("text", inside, x=f"{x:g}", y=f"{y:g}", class_=kind or None)
