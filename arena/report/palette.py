"""Colours and the score ramp."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

LIGHT: Mapping[str, str] = {
    "paper": "#fbfaf7", "card": "#ffffff", "ink": "#1b1f24", "soft": "#545b66",
    "line": "#dcdad3", "faint": "#f1efe9", "win": "#1f5fa8", "link": "#1f5fa8",
    "lose": "#a8480b", "hold": "#0b6e62", "holdbg": "#e6f2ef", "fail": "#a8320b",
    "failbg": "#fbeae2", "open": "#6a4aa0", "openbg": "#efeaf7", "mark": "#ffe9a8",
    "wood": "#e9dcc3", "pit": "#d8c6a3", "rim": "#bfa678", "bean": "#5a3d22", "count": "#2e2415",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "paper": "#14171b", "card": "#1b1f25", "ink": "#e8e6e1", "soft": "#a3abb6",
    "line": "#343a43", "faint": "#22272e", "win": "#7fb4f0", "link": "#8fbdf3",
    "lose": "#f0a36b", "hold": "#5cc9b5", "holdbg": "#16302c", "fail": "#ff9473",
    "failbg": "#3a211a", "open": "#bda4ee", "openbg": "#2a2439", "mark": "#4d4118",
    "wood": "#4a3d2b", "pit": "#382d1f", "rim": "#6b5a40", "bean": "#d9b98a", "count": "#efe4d0",
}  # fmt: skip
# Seven stops from score 0 to score 1, linear in sRGB between them; the middle is neutral.
LIGHT_RAMP = ("#8f3d08", "#c8702c", "#eab083", "#f1efe9", "#9cc3e8", "#4a88c7", "#174f91")
DARK_RAMP = ("#ffb27a", "#c9742f", "#7a4822", "#2b3037", "#27527f", "#3f86cc", "#9accff")
RAMP_STEPS = 50  # of the ramp: classes r0 to r50


def ramp_class(score: float) -> str:
    """Return the class of a cell with this score."""
    return f"r{round(RAMP_STEPS * min(max(score, 0.0), 1.0))}"


@cache
def page_style() -> str:
    """Return the colours of a page as CSS: light, or dark on a screen if the reader prefers it."""
    light = _variables(LIGHT) + _ramp(LIGHT_RAMP)
    dark = _variables(DARK) + _ramp(DARK_RAMP)
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


@cache
def picture_style() -> str:
    """Return the style of a picture file: light colours on white, and no variables."""
    css, colours = Path(__file__).with_name("figures.css").read_text(), {**LIGHT, "paper": "#fff"}
    plain = re.sub(r"var\(--(\w+)\)", lambda found: colours[found[1]], css)
    return _minify(plain) + _ramp(LIGHT_RAMP)


def figure_style() -> str:
    """Return the style of figures on a page."""
    return _minify(Path(__file__).with_name("figures.css").read_text())


def _minify(css: str) -> str:
    return re.sub(r"\s*\n\s*", "", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))


def _variables(colours: Mapping[str, str]) -> str:
    return f":root{{{''.join(f'--{name}:{colour};' for name, colour in colours.items())}}}"


def _ramp(stops: Sequence[str]) -> str:
    rules = []
    for step in range(RAMP_STEPS + 1):
        ground = ramp_colour(stops, step / RAMP_STEPS)
        colour = "".join(f"{part:02x}" for part in ground)
        rules.append(f".r{step}{{background:#{colour};fill:#{colour};color:{readable_on(ground)}}}")
    return "".join(rules)


def ramp_colour(stops: Sequence[str], share: float) -> tuple[int, int, int]:
    """Return the colour at a share, from 0 to 1, of the way along the stops."""
    at = share * (len(stops) - 1)
    place = min(int(at), len(stops) - 2)
    one, other = (_rgb(stop) for stop in stops[place : place + 2])
    red, green, blue = (round(a + (at - place) * (b - a)) for a, b in zip(one, other, strict=True))
    return red, green, blue


def readable_on(ground: tuple[int, int, int]) -> str:
    """Return black or white, with the larger contrast (WCAG 2.1)."""
    light = luminance(ground)
    return "#000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#fff"


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance of a colour, from 0 to 1 (WCAG 2.1)."""
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
