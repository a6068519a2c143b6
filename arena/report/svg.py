"""SVG marks."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from arena.report.html import Html, Inside, isolate, join, tag
from arena.report.numbers import StoredEstimate
from arena.report.palette import picture_style

INSIDE, MARGIN = 688, 16  # pixels of a picture in a file: across, around it
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
EDGE = 3  # per cent: labels nearer to an edge begin or end at their place
NEAREST = 9  # per cent between two labels
FONT_SIZE = 12.5  # pixels, as in figures.css
# Widths of bold letters in the widest font that pictures may get, in parts of the font size.
NARROW, WIDE = frozenset("iljftrI.,:;'|!()[] -"), frozenset("mwMW@%\u2026")
NARROW_SHARE, USUAL_SHARE, UPPER_SHARE, WIDE_SHARE = 0.46, 0.7, 0.82, 1.04


class Scale(NamedTuple):
    """Numbers from `low` to `high`, across."""

    low: float
    high: float

    def at(self, number: float) -> float:
        """The place of a number in per cent; what lies beyond the ends lies on them."""
        return min(max(100.0 * (number - self.low) / (self.high - self.low), 0.0), 100.0)


class Picture(NamedTuple):
    """A drawing without its frame: marks in a strip so many pixels high.

    In a file it has `width` pixels; on a page it is as wide as its place.
    """

    height: int
    marks: Html
    width: int = INSIDE


def per_cent(place: float) -> str:
    """A place across."""
    return f"{place:.2f}".rstrip("0").rstrip(".") + "%"


def line(across: float, top: float, bottom: float, kind: str) -> Html:
    """An upright line."""
    x = per_cent(across)
    return tag("line", x1=x, x2=x, y1=f"{top:g}", y2=f"{bottom:g}", class_=kind)


def level_line(left: float, right: float, y: float, kind: str) -> Html:
    """A level line."""
    return tag("line", x1=per_cent(left), x2=per_cent(right), y1=f"{y:g}", y2=f"{y:g}", class_=kind)


def rect(left: float, right: float, y: float, height: float, kind: str) -> Html:
    """A rectangle; one too narrow to be seen is a pixel wide."""
    width = max(right - left, 0.1)
    return tag(
        "rect", x=per_cent(left), y=f"{y:g}", width=per_cent(width), height=f"{height:g}",
        class_=kind,
    )  # fmt: skip


def dot(across: float, y: float, radius: float, kind: str = "dot") -> Html:
    """A dot."""
    return tag("circle", cx=per_cent(across), cy=f"{y:g}", r=f"{radius:g}", class_=kind)


def words(across: float, y: float, text: Inside, anchor: str = "middle", kind: str = "") -> Html:
    """A text."""
    return tag(
        "text", text, x=per_cent(across), y=f"{y:g}", text_anchor=anchor, class_=kind or None
    )


def grid(scale: Scale, ticks: Sequence[float], height: float, zero: float | None = None) -> Html:
    """An upright line at each tick, a darker one at `zero`."""
    return join(
        line(scale.at(tick), 0, height, "zero" if tick == zero else "grid") for tick in ticks
    )


def labels(
    scale: Scale, ticks: Sequence[tuple[float, str]], y: float, width: float | None = None
) -> Html:
    """The ticks in words; those at an edge begin or end there, none is too near to another.

    `width` are the pixels across, where they are known.
    """
    widest = max((text_width(text) for _, text in ticks), default=0.0)
    nearest = max(NEAREST, 100 * widest / width) if width else NEAREST
    edge = max(EDGE, nearest / 2) if width else EDGE
    kept = dict[float, str]()

    def left(place: float) -> float:
        """Return where the label of a place begins, as it is anchored below."""
        inside = 0.0 if place < edge else 1.0 if place > 100 - edge else 0.5
        return place - inside * nearest

    for tick, text in sorted(ticks, key=lambda each: abs(each[0])):  # zero is told first
        place = scale.at(tick)
        if all(abs(left(place) - left(other)) >= nearest for other in kept):
            kept[place] = text
    return join(
        words(
            place, y, kept[place],
            "start" if place < edge else "end" if place > 100 - edge else "middle",
        )
        for place in sorted(kept)
    )  # fmt: skip


def interval(
    scale: Scale, known: StoredEstimate, y: float, height: float, radius: float, kind: str = "band"
) -> Html:
    """The band of an interval with its dot on it; an end that is not known is an arrow."""
    parts: list[Html | None] = []
    if known.bounded:
        low = scale.low if known.low is None else known.low
        high = scale.high if known.high is None else known.high
        parts.append(rect(scale.at(low), scale.at(high), y - height / 2, height, kind))
        parts.append(_arrow(0.0, y, 1) if known.low is None else None)
        parts.append(_arrow(100.0, y, -1) if known.high is None else None)
    if known.value is not None:
        parts.append(dot(scale.at(known.value), y, radius, "dot" if kind == "band" else "plain"))
    return join(parts)


def _arrow(across: float, y: float, direction: int) -> Html:
    """An arrow that points out of the figure."""
    path = f"M{6 * direction} -4L{direction} 0L{6 * direction} 4"
    head = tag("path", d=path, class_="ends")
    return tag("svg", head, x=per_cent(across), y=f"{y:g}", overflow="visible")


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """About how many pixels a bold text takes, rather too many."""
    shares = (
        2 * USUAL_SHARE if unicodedata.east_asian_width(each) in "WF"
        else NARROW_SHARE if each in NARROW
        else WIDE_SHARE if each in WIDE or unicodedata.category(each) == "So"
        else UPPER_SHARE if each.isupper()
        else USUAL_SHARE
        for each in text
    )  # fmt: skip
    return size * sum(shares)


def fitted(text: str, width: float, size: float = FONT_SIZE) -> str:
    """A text of at most this width, cut in its middle: the ends of names tell them apart."""
    if text_width(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        short = cut(text, kept)
        if text_width(short, size) <= width:
            return short
    return text[:1]


def cut(name: str, most: int) -> str:
    """A name of at most so many characters, cut in its middle."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}\u2026{name[len(name) - end :]}"


def inline_svg(picture: Picture, name: str | None = None, kind: str = "") -> Html:
    """The drawing as part of a page, as wide as its place; without a name it is decoration."""
    told = {"role": "img", "aria_label": name} if name else {"aria_hidden": "true"}
    return tag(
        "svg", picture.marks, width="100%", height=picture.height, class_=kind or None, **told
    )


def embed(left: float, top: float, width: float, picture: Picture) -> Html:
    """The drawing inside another one."""
    return tag(
        "svg", picture.marks, x=f"{left:g}", y=f"{top:g}", width=f"{width:g}",
        height=picture.height,
    )  # fmt: skip


def svg_file(picture: Picture, title: str) -> str:
    """The drawing as a whole file, with its title above it."""
    margin, head = MARGIN, 34
    width, height = picture.width + 2 * margin, picture.height + head + margin
    ground = tag("rect", width="100%", height="100%", fill="#fbfaf7")
    heading = tag("text", isolate(title), x=margin, y=24, class_="strong", font_size="15")
    return tag(
        "svg",
        tag("title", title),
        tag("style", Html(picture_style())),
        ground,
        heading,
        embed(margin, head, picture.width, picture),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        font_family=FONT,
        role="img",
    )
