"""A line chart of shares by powers of two, one line for each series."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 52, 92, 16, 44
# Distinguishable on white by people with colour blindness.
COLOURS = ("#999999", "#56b4e9", "#0072b2", "#009e73", "#d55e00")
NEAR = 13  # least distance of two labels, in pixels


def picture(columns: Sequence[int], lines: Mapping[str, Sequence[float]]) -> str:
    """Return the lines as SVG; shares are between 0 and 1."""
    across = (WIDTH - LEFT - RIGHT) / (len(columns) - 1)
    down = HEIGHT - TOP - BOTTOM

    def at(column: int, share: float) -> str:
        return f"{LEFT + column * across:.1f},{TOP + (1 - share) * down:.1f}"

    drawn = [*_axes(columns, across, down)]
    ends = _spread_labels({name: TOP + (1 - shares[-1]) * down for name, shares in lines.items()})
    for (name, shares), colour in zip(lines.items(), COLOURS, strict=False):
        points = " ".join(at(column, share) for column, share in enumerate(shares))
        wide = 3 if name == "as sent" else 1.6
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        )
        drawn.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{ends[name] + 4:.1f}" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    title = "The share of their time that workers play, by the number of workers; simulated"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _axes(columns: Sequence[int], across: float, down: float) -> list[str]:
    drawn = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = TOP + (1 - share) * down
        drawn.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#dddddd"/>')
        drawn.append(
            f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end" fill="#444444">'
            f"{100 * share:.0f} %</text>"
        )
    for column, number in enumerate(columns):
        x = LEFT + column * across
        drawn.append(
            f'<text x="{x:.1f}" y="{TOP + down + 18}" text-anchor="middle" fill="#444444">'
            f"{number}</text>"
        )
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    drawn.append(
        f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle" fill="#444444">'
        "workers (simulated)</text>"
    )
    return drawn


def _spread_labels(places: Mapping[str, float]) -> dict[str, float]:
    """Move the heights of labels apart so that they do not overlap."""
    moved: dict[str, float] = {}
    last = -1e9
    for name in sorted(places, key=places.__getitem__):
        last = max(places[name], last + NEAR)
        moved[name] = last
    return moved
