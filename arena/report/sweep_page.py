"""The page of a sweep."""

import math
from collections.abc import Iterator, Sequence

from arena.analysis.sweep import SweepCellRow, SweepLine, budget_axis, is_budget_key, sweep_lines
from arena.analysis.tables import mirror_of
from arena.report import plain_page
from arena.report.chart import (
    BLUE,
    GREEN,
    INK,
    RED,
    Frame,
    dots,
    error_bars,
    label,
    level,
    line,
    make_frame,
    xy_chart,
)
from arena.stats.text import elo_text, percent_text, signed_mean
from arena.terminal.plan import align_columns
from games.base.errors import printable

HEAD = ("Elo", "games", "openings", "distinct", "first mover", "margin")
COLOURS = (BLUE, RED, GREEN, INK)
MOST_LINES = 8
LONGEST = 40
ROOM, BESIDE = 0.06, 0.012  # of the width


def sweep_table(names: Sequence[str], rows: Sequence[SweepCellRow]) -> Iterator[str]:
    """A line for each cell: its values, its Elo with the usual interval, what it shows."""
    head = [*(printable(name, LONGEST) for name in names), *HEAD, ""]
    cells = [
        [
            *(printable(str(value), LONGEST) for value in row.values),
            *cell_texts(row),
        ]
        for row in rows
    ]
    yield from align_columns([head, *cells])


def cell_texts(row: SweepCellRow) -> list[str]:
    """What a cell shows, under HEAD, and its answer."""
    first_mover, answer = ["", "", ""], row.found.answer
    if row.match is not None:
        score, margin = row.match.first_mover_score, row.match.first_mover_margin
        first_mover = [
            f"{row.match.distinct_games:,}",
            "" if score is None else percent_text(score),
            "" if margin is None else signed_mean(margin),
        ]
        answer = mirror_of(row.match) or answer
    return [elo_text(row.found.elo), f"{row.games:,}", f"{row.openings:,}", *first_mover, answer]


def sweep_chart(names: Sequence[str], rows: Sequence[SweepCellRow], title: str) -> str:
    """The figure as the text of an SVG file; without numbers to go along, cell by cell."""
    axis = budget_axis(names, rows)
    lines = list(sweep_lines(names, rows))[:MOST_LINES]
    if axis is None or not lines:
        return cell_chart(rows, title)
    doubling = is_budget_key(names[axis])
    ends = [end for each in lines for elo in each.elos for end in (elo.low, elo.high, elo.value)]
    places = [place_of(x, doubling) for each in lines for x in each.xs]
    room = ROOM * (max(places) - min(places))
    around = [min(places) - room, max(places) + room]
    frame = make_frame(around, [0.0, *(end for end in ends if end is not None)])
    parts = [level(frame, 0.0, "even", INK)]
    for number, each in enumerate(lines):
        parts += chart_series(frame, each, COLOURS[number % len(COLOURS)], number)
    values = sorted({x for each in lines for x in each.xs})
    ticks = [(place_of(x, doubling), f"{x:,g}") for x in values]
    return xy_chart(frame, parts, title, printable(names[axis]), "Elo", ticks)


def place_of(x: float, doubling: bool) -> float:
    """The place of a number: budgets by their doublings."""
    return math.log2(x) if doubling else x


def chart_series(frame: Frame, shown: SweepLine, colour: str, number: int) -> Iterator[str]:
    """A line with its points, its intervals and its name."""
    known = [
        (place_of(x, shown.doubling), elo)
        for x, elo in zip(shown.xs, shown.elos, strict=True)
        if elo.value is not None
    ]
    if not known:
        return
    # Beside one another, or the intervals of one line would hide those of the next.
    xs = [x + number * BESIDE * (frame.x[1] - frame.x[0]) for x, _ in known]
    values = [elo.value or 0.0 for _, elo in known]
    lows = [elo.value or 0.0 if elo.low is None else elo.low for _, elo in known]
    highs = [elo.value or 0.0 if elo.high is None else elo.high for _, elo in known]
    yield error_bars(frame, xs, lows, highs, colour)
    yield line(frame, xs, values, colour)
    yield dots(frame, xs, values, colour)
    if shown.name:
        yield label(number, printable(shown.name, LONGEST), colour)


def cell_chart(rows: Sequence[SweepCellRow], title: str) -> str:
    """The cells side by side."""
    elos = [row.found.elo for row in rows]
    one = SweepLine("", tuple(float(at) for at in range(1, len(rows) + 1)), tuple(elos), False)
    ends = [end for elo in elos for end in (elo.low, elo.high, elo.value) if end is not None]
    frame = make_frame([0.5, len(rows) + 0.5], [0.0, *ends])
    parts = [level(frame, 0.0, "even", INK), *chart_series(frame, one, BLUE, 0)]
    return xy_chart(frame, parts, title, "cell", "Elo")


def sweep_page(
    title: str,
    names: Sequence[str],
    rows: Sequence[SweepCellRow],
    verdict: Sequence[str],
    picture: str,
) -> str:
    """The whole page; the first line of the verdict is the answer."""
    answer, *more = verdict
    head = [*(printable(name, LONGEST) for name in names), *HEAD, "", "run"]
    cells = [
        [
            *(printable(str(value), LONGEST) for value in row.values),
            *cell_texts(row),
            row.run,
        ]
        for row in rows
    ]
    return plain_page.page(
        title,
        [
            plain_page.paragraph(answer, "verdict"),
            *map(plain_page.paragraph, more),
            picture,
            plain_page.heading("Every cell"),
            plain_page.table(head, cells),
            plain_page.paragraph("A cell is a run of its own: pitflip report RUN writes its page."),
        ],
    )
