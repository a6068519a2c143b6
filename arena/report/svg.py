"""SVG marks on a strip: positions across are per cent, positions down are pixels."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena.report.html import Html, Inside, isolate, join, tag
from arena.report.numbers import has_end
from arena.report.palette import picture_style
from arena.stats.estimate import Estimate
from games.base.errors import UserError
from games.base.text import quote

PICTURE_WIDTH, MARGIN, TITLE_HEIGHT = 688, 8, 34  # pixels of a picture in a file
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
EDGE = 3  # per cent: a label nearer to an edge starts or ends at its position
NEAREST = 9  # per cent between two labels
FONT_SIZE = 12.5  # pixels, as in figures.css
# Widths of bold letters in the widest font that a picture may get, relative to the font size.
NARROW, WIDE = frozenset("iljftrI.,:;'|!()[] -"), frozenset("mwMW@%\u2026")
NARROW_SHARE, USUAL_SHARE, UPPER_SHARE, WIDE_SHARE = 0.46, 0.7, 0.82, 1.04


class Scale(NamedTuple):
    """A horizontal scale of numbers from `low` to `high`."""

    low: float
    high: float

    def at(self, number: float) -> float:
        """Return the position of a number in per cent, between 0 and 100."""
        return min(max(100.0 * (number - self.low) / (self.high - self.low), 0.0), 100.0)


class Picture(NamedTuple):
    """A drawing without a frame.

    In a file it is `width` pixels wide. A page stretches it to the width available; marks in
    pixels (`in_pixels`) are scaled with it. `redraw` draws it for a file of another width, with
    the titles of its axes; without `redraw` files have the same marks.
    """

    height: int
    marks: Html
    width: int = PICTURE_WIDTH
    in_pixels: bool = False
    redraw: "Callable[[int], Picture] | None" = None

    def at_width(self, width: int) -> "Picture":
        """Return the picture for a file of this width in pixels; it may need to be wider."""
        if self.redraw is not None:
            return self.redraw(width)
        return self if self.in_pixels else self._replace(width=width)


POINTS = {"mm": 72 / 25.4, "cm": 720 / 25.4, "in": 72.0, "pt": 1.0, "px": 0.75}  # of a unit
LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(mm|cm|in|pt|px)")
LEAST_WIDTH, LARGEST_WIDTH = 72.0, 7200.0  # points
LEAST_FONT, LARGEST_FONT = 3.0, 72.0  # points


class FileStyle(NamedTuple):
    """The size and font of a figure in a file; the sizes are in points."""

    width: float = 510.0
    font_size: float = 9.0
    font: str = ""


def file_style(width: str = "", font: str = "", font_size: float | None = None) -> FileStyle:
    """Return the style for a width such as "84mm", a font and its size in points."""
    style = FileStyle(font=font)
    if width:
        found = LENGTH.fullmatch(width.strip())
        if found is None:
            units = ", ".join(POINTS)
            raise UserError(f"width must be a number with a unit ({units}), got {quote(width)}")
        style = style._replace(width=float(found[1]) * POINTS[found[2]])
        if not LEAST_WIDTH <= style.width <= LARGEST_WIDTH:
            raise UserError(f"width must be from 1in to 100in, got {quote(width)}")
    if font_size is not None:
        if not LEAST_FONT <= font_size <= LARGEST_FONT:
            raise UserError(f"the font size must be from 3 to 72 points, got {font_size:g}")
        style = style._replace(font_size=font_size)
    return style


def per_cent(position: float) -> str:
    """Return a horizontal position as an attribute."""
    return f"{position:.2f}".rstrip("0").rstrip(".") + "%"


def vertical_line(across: float, top: float, bottom: float, kind: str) -> Html:
    """Return a vertical line."""
    x = per_cent(across)
    return tag("line", x1=x, x2=x, y1=f"{top:g}", y2=f"{bottom:g}", class_=kind)


def horizontal_line(left: float, right: float, y: float, kind: str) -> Html:
    """Return a horizontal line."""
    return tag("line", x1=per_cent(left), x2=per_cent(right), y1=f"{y:g}", y2=f"{y:g}", class_=kind)


def rect(left: float, right: float, y: float, height: float, kind: str) -> Html:
    """Return a rectangle that is at least 0.1 % wide."""
    width = max(right - left, 0.1)
    return tag(
        "rect", x=per_cent(left), y=f"{y:g}", width=per_cent(width), height=f"{height:g}",
        class_=kind,
    )  # fmt: skip


def dot(across: float, y: float, radius: float, kind: str = "dot") -> Html:
    """Return a dot."""
    return tag("circle", cx=per_cent(across), cy=f"{y:g}", r=f"{radius:g}", class_=kind)


def svg_text(across: float, y: float, text: Inside, anchor: str = "middle", kind: str = "") -> Html:
    """Return a text."""
    return tag(
        "text", text, x=per_cent(across), y=f"{y:g}", text_anchor=anchor, class_=kind or None
    )


def grid(scale: Scale, ticks: Sequence[float], height: float, zero: float | None = None) -> Html:
    """Return a vertical line at each tick, a darker one at `zero`."""
    return join(
        vertical_line(scale.at(tick), 0, height, "zero" if tick == zero else "grid")
        for tick in ticks
    )


def tick_labels(
    scale: Scale, ticks: Sequence[tuple[float, str]], y: float, width: float | None = None
) -> Html:
    """Return the labels of the ticks, without those that would overlap a label nearer to zero.

    `width` is the width of the strip in pixels, where it is known.
    """
    widest = max((text_width(text) for _, text in ticks), default=0.0)
    nearest = max(NEAREST, 100 * widest / width) if width else NEAREST
    edge = max(EDGE, nearest / 2) if width else EDGE
    kept = dict[float, str]()

    def start(position: float) -> float:
        inside = 0.0 if position < edge else 1.0 if position > 100 - edge else 0.5
        return position - inside * nearest

    for tick, text in sorted(ticks, key=lambda each: abs(each[0])):
        position = scale.at(tick)
        if all(abs(start(position) - start(other)) >= nearest for other in kept):
            kept[position] = text
    return join(
        svg_text(position, y, kept[position], anchor_at(position, edge))
        for position in sorted(kept)
    )


def anchor_at(position: float, edge: float) -> str:
    """Return the text anchor for a label at this position: inwards within `edge` per cent."""
    return "start" if position < edge else "end" if position > 100 - edge else "middle"


def interval_marks(
    scale: Scale, known: Estimate, y: float, height: float, radius: float, kind: str = "band"
) -> Html:
    """Return the band of an interval with a dot at the value; an unknown end is an arrow."""
    parts: list[Html | None] = []
    if has_end(known):
        low = scale.low if known.low is None else known.low
        high = scale.high if known.high is None else known.high
        parts.append(rect(scale.at(low), scale.at(high), y - height / 2, height, kind))
        parts.append(_arrow(0.0, y, 1) if known.low is None else None)
        parts.append(_arrow(100.0, y, -1) if known.high is None else None)
    if known.value is not None:
        parts.append(dot(scale.at(known.value), y, radius, "dot" if kind == "band" else "plain"))
    return join(parts)


def _arrow(across: float, y: float, direction: int) -> Html:
    path = f"M{6 * direction} -4L{direction} 0L{6 * direction} 4"
    head = tag("path", d=path, class_="ends")
    return tag("svg", head, x=per_cent(across), y=f"{y:g}", overflow="visible")


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Estimate the width of a bold text in pixels; the estimate is rather too large."""
    shares = (
        2 * USUAL_SHARE if unicodedata.east_asian_width(each) in "WF"
        else NARROW_SHARE if each in NARROW
        else WIDE_SHARE if each in WIDE or unicodedata.category(each) == "So"
        else UPPER_SHARE if each.isupper()
        else USUAL_SHARE
        for each in text
    )  # fmt: skip
    return size * sum(shares)


def shorten_to_width(text: str, width: float, size: float = FONT_SIZE) -> str:
    """Shorten a text to this width in pixels by leaving out its middle."""
    if text_width(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        short = shorten(text, kept)
        if text_width(short, size) <= width:
            return short
    return text[:1]


def shorten(name: str, most: int) -> str:
    """Shorten a name to `most` characters by leaving out its middle: names differ at the ends."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}\u2026{name[len(name) - end :]}"


def inline_svg(picture: Picture, name: str | None = None, kind: str = "") -> Html:
    """Return the drawing as part of a page; without a name it is hidden from screen readers."""
    label = {"role": "img", "aria_label": name} if name else {"aria_hidden": "true"}
    size: dict[str, Inside] = {"width": "100%", "height": picture.height}
    if picture.in_pixels:
        size = {"viewBox": f"0 0 {picture.width} {picture.height}"}
    return tag("svg", picture.marks, class_=kind or None, **size, **label)


def embed(left: float, top: float, width: float, picture: Picture) -> Html:
    """Return the drawing as part of another one."""
    return tag(
        "svg", picture.marks, x=f"{left:g}", y=f"{top:g}", width=f"{width:g}",
        height=picture.height,
    )  # fmt: skip


def svg_file(
    picture: Picture, title: str, style: FileStyle | None = None, heading: bool = False
) -> str:
    """Return the drawing as the text of an SVG file.

    The text has the size of the style, or is smaller if the picture needs more space.
    """
    size = style or FileStyle()
    drawn = picture.at_width(round(size.width / size.font_size * FONT_SIZE) - 2 * MARGIN)
    top = TITLE_HEIGHT if heading else MARGIN
    width, height = drawn.width + 2 * MARGIN, drawn.height + top + MARGIN
    fonts = f"{quoted_font(size.font)}, {FONT}" if size.font else FONT
    return tag(
        "svg",
        tag("title", title),
        tag("style", Html(picture_style())),
        tag("rect", width="100%", height="100%", fill="#ffffff"),
        tag("text", isolate(title), x=MARGIN, y=24, class_="strong", font_size="15")
        if heading
        else None,
        embed(MARGIN, top, drawn.width, drawn),
        xmlns="http://www.w3.org/2000/svg",
        width=f"{size.width:.2f}pt",
        height=f"{size.width * height / width:.2f}pt",
        viewBox=f"0 0 {width} {height}",
        font_family=fonts,
        role="img",
    )


def quoted_font(name: str) -> str:
    """Return a font's name as CSS writes it."""
    plain = re.sub(r"[^\w .-]", "", name)
    return f"'{plain}'"
