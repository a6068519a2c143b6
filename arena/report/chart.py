"""Line, point and bar charts."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 46
INK, FAINT, BLUE, RED, GREEN = "#222", "#ccc", "#1f6fb2", "#c0392b", "#2e8b57"
STEPS = (1, 2, 2.5, 5, 10)


class Frame(NamedTuple):
    """Where numbers lie on the paper."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (
            HEIGHT - TOP - BOTTOM
        )


def make_frame(xs: Sequence[float], ys: Sequence[float]) -> Frame:
    """A frame that holds all these numbers, with some room above and below."""
    return Frame(_room(xs, 0.0), _room(ys, 0.05))


def _room(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = (min(values), max(values)) if len(values) else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    more = margin * (high - low)
    return low - more, high + more


def ticks(low: float, high: float, about: int = 6, steps: Sequence[float] = STEPS) -> list[float]:
    """Round numbers from `low` to `high`."""
    raw = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * each for each in steps if unit * each >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * number, 10) + 0.0 for number in range(first, last + 1)]


def line(frame: Frame, xs: Sequence[float], ys: Sequence[float], colour: str = BLUE) -> str:
    """A line through points."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in _places(frame, xs, ys))
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.8"/>'


def band(frame: Frame, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """The area between two lines."""
    there, back = _places(frame, xs, low), _places(frame, xs, high)
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*there, *reversed(back)])
    return f'<polygon points="{places}" fill="{BLUE}" fill-opacity="0.18"/>'


def dots(frame: Frame, xs: Sequence[float], ys: Sequence[float], colour: str = INK) -> str:
    """Points."""
    return "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>'
        for x, y in _places(frame, xs, ys)
    )


def error_bars(
    frame: Frame,
    xs: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    colour: str = FAINT,
) -> str:
    """An upright bar for the interval of each point."""
    pairs = zip(_places(frame, xs, low), _places(frame, xs, high), strict=True)
    return "".join(
        f'<line x1="{x:.1f}" y1="{a:.1f}" x2="{x:.1f}" y2="{b:.1f}" stroke="{colour}"/>'
        for (x, a), (_, b) in pairs
    )


def level(frame: Frame, y: float, words: str, colour: str = RED) -> str:
    """A dashed level line with its meaning."""
    x0, at = frame.at(frame.x[0], y)
    x1, _ = frame.at(frame.x[1], y)
    return (
        f'<line x1="{x0:.1f}" y1="{at:.1f}" x2="{x1:.1f}" y2="{at:.1f}" stroke="{colour}" '
        f'stroke-dasharray="5 4"/><text x="{x1 - 4:.1f}" y="{at - 4:.1f}" text-anchor="end" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def vertical_line(frame: Frame, x: float, words: str, colour: str = GREEN) -> str:
    """A dashed upright line with its meaning."""
    at, y0 = frame.at(x, frame.y[0])
    _, y1 = frame.at(x, frame.y[1])
    anchor, shift = ("start", 4) if at < WIDTH / 2 else ("end", -4)
    return (
        f'<line x1="{at:.1f}" y1="{y0:.1f}" x2="{at:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'stroke-dasharray="5 4"/><text x="{at + shift:.1f}" y="{y1 + 12:.1f}" '
        f'text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
    )


def label(number: int, words: str, colour: str) -> str:
    """The name of a line, below those of the lines before it."""
    return (
        f'<text x="{LEFT + 8}" y="{TOP + 14 + 15 * number}" fill="{colour}">{escape(words)}</text>'
    )


def xy_chart(
    frame: Frame,
    parts: Sequence[str],
    title: str,
    across: str,
    up: str,
    named: Sequence[tuple[float, str]] = (),
) -> str:
    """A whole figure with its axes and labels; `named` are ticks across with their own words."""
    return _svg([_axes(frame, across, up, named), *parts], title, HEIGHT)


def bar_chart(names: Sequence[str], shares: Sequence[float], title: str) -> str:
    """A horizontal bar for every name, with its number."""
    widest = max([*shares, 1e-9])
    parts = []
    for row, (name, share) in enumerate(zip(names, shares, strict=True)):
        y = TOP + 8 + 30 * row
        width = max(1.0, (WIDTH - 260) * share / widest)
        parts.append(
            f'<text x="170" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="178" y="{y}" width="{width:.1f}" height="20" fill="{BLUE}"/>'
            f'<text x="{184 + width:.1f}" y="{y + 14}">{share:.2f}</text>'
        )
    return _svg(parts, title, TOP + 20 + 30 * len(names))


def _axes(frame: Frame, across: str, up: str, named: Sequence[tuple[float, str]]) -> str:
    parts = []
    for tick, words in named or [(tick, f"{tick:g}") for tick in ticks(*frame.x)]:
        x, y = frame.at(tick, frame.y[0])
        parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{y + 4:.1f}" stroke="{INK}"/>'
            f'<text x="{x:.1f}" y="{y + 17:.1f}" text-anchor="middle">{escape(words)}</text>'
        )
    for tick in ticks(*frame.y):
        x, y = frame.at(frame.x[0], tick)
        parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" '
            f'stroke="{FAINT}" stroke-width="0.5"/>'
            f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    bottom = HEIGHT - BOTTOM
    parts.append(
        f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="{INK}"/>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text transform="translate(14 {(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text>'
    )
    return "".join(parts)


def _places(frame: Frame, xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    return [frame.at(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]


def _svg(parts: Sequence[str], title: str, height: int) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>\n'
        f"{body}\n</svg>\n"
    )
