"""The page of a sweep: its chart and a table of its cells."""

import math
from collections.abc import Iterator, Sequence

from arena.analysis.sweep import (
    LEVEL,
    SweepCellRow,
    SweepLine,
    axis_type,
    budget_axis,
    is_budget_key,
    sweep_lines,
)
from arena.analysis.tables import row_mirror_text
from arena.report.chart import (
    BLUE,
    GREEN,
    INK,
    RED,
    Chart,
    Frame,
    dots,
    error_bars,
    horizontal_line,
    line,
    make_frame,
    series_label,
    xy_chart,
)
from arena.report.document import paragraph, text_document
from arena.report.figure import FigureTable, section, table_html
from arena.report.html import Html
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import elo_text, mean_margin_text, percent_text, share_text
from arena.terminal.plan import align_columns
from games.base.errors import printable
from games.base.files import format_toml

HEAD = ("Elo", "ms/move", "games", "openings", "distinct", "first mover", "margin")
COLOURS = (BLUE, RED, GREEN, INK)
MOST_LINES = 8
LONGEST = 40
SHORTEST = 1e-5  # seconds of a move; a shorter mean is not worth its digits
MARGIN, SHIFT = 0.06, 0.012  # of the width: around all points, between two lines


def sweep_table(names: Sequence[str], rows: Sequence[SweepCellRow]) -> Iterator[str]:
    """Return the lines of a table with a row for each cell."""
    yield from align_columns([_head(names), *map(_cell_texts, rows)])


def _head(names: Sequence[str]) -> list[str]:
    return [*(printable(name, LONGEST) for name in names), *HEAD, ""]


def _cell_texts(row: SweepCellRow) -> list[str]:
    first_mover, answer = ["", "", ""], row.estimate.answer
    if row.match is not None:
        score, margin = row.match.first_mover_score, row.match.first_mover_margin
        first_mover = [
            f"{row.match.distinct_games:,}",
            "" if score is None else percent_text(score),
            "" if margin is None else mean_margin_text(margin),
        ]
        answer = row_mirror_text(row.match) or answer
    return [
        *(printable(str(value), LONGEST) for value in row.values),
        elo_text(row.estimate.elo),
        "" if row.move_seconds is None else milliseconds_text(row.move_seconds),
        f"{row.games:,}",
        f"{row.openings:,}",
        *first_mover,
        answer,
    ]


def going_first_line(names: Sequence[str], rows: Sequence[SweepCellRow]) -> str:
    """Return whether going first matters, if two copies of one player meet in every cell; or ""."""
    parts = []
    for row in rows:
        match = row.match
        if match is None or not row_mirror_text(match) or match.first_mover_score is None:
            return ""
        low, high = match.first_mover_score_low, match.first_mover_score_high
        score = Estimate(match.first_mover_score, low, high, LEVEL, EstimateKind.FIXED)
        only = f"{match.distinct_games:,} distinct game{'s' * (match.distinct_games != 1)}"
        if low == high:  # one opening, or all openings there are
            answer = f"{percent_text(match.first_mover_score)} in {only}"
        elif (low or 0.0) > 0.5:
            answer = f"{share_text(score)} in {only}, an advantage"
        elif (1.0 if high is None else high) < 0.5:
            answer = f"{share_text(score)} in {only}, a disadvantage"
        else:
            answer = f"{share_text(score)} in {only}, which does not show that it matters"
        parts.append(f"with {cell_text(names, row)} the first mover scored {answer}")
    return f"going first: {'; '.join(parts)}"


def cell_text(names: Sequence[str], row: SweepCellRow) -> str:
    """Return the values of a cell as they are written in a file."""
    values = zip(names, row.values, strict=True)
    return ", ".join(f"{name} = {format_toml(value)}" for name, value in values)


def best_value_line(names: Sequence[str], rows: Sequence[SweepCellRow]) -> str:
    """Return the strongest value of a number, and the fastest that is about as strong; or ""."""
    is_number = len(names) == 1 and axis_type([row.values[0] for row in rows]) != "string"
    known = [row for row in rows if row.estimate.score.value is not None]
    if not is_number or len(known) < 2 or len({row.opponent for row in rows}) > 1:
        return ""

    def cost(row: SweepCellRow) -> float:
        return math.inf if row.move_seconds is None else row.move_seconds

    best = min(known, key=lambda row: (-(row.estimate.score.value or 0.0), cost(row)))
    low = best.estimate.score.low or 0.0
    similar = [row for row in known if low <= _high_end(row.estimate.score)]
    fastest = min(similar, key=cost)
    line = f"{best.agent} is strongest with {cell_text(names, best)}: {_strength_text(best)}"
    if cost(fastest) == cost(best):
        return f"{line}; no faster value has an interval that overlaps with it"
    what = cell_text(names, fastest)
    return f"{line}; the fastest value whose interval overlaps is {what}: {_strength_text(fastest)}"


def _high_end(score: Estimate) -> float:
    return 1.0 if score.high is None else score.high


def _strength_text(row: SweepCellRow) -> str:
    time = "" if row.move_seconds is None else f", {milliseconds_text(row.move_seconds)} ms a move"
    return f"{elo_text(row.estimate.elo)}{time}"


def milliseconds_text(seconds: float) -> str:
    """Return a time in milliseconds with three digits."""
    if seconds < SHORTEST:
        return f"<{1000 * SHORTEST:g}"
    return f"{1000 * seconds:.3g}" if seconds < 1 else f"{1000 * seconds:,.0f}"


def sweep_chart(names: Sequence[str], rows: Sequence[SweepCellRow], title: str) -> Chart:
    """Return Elo over the numeric axis of a sweep, or over its cells if it has none."""
    axis = budget_axis(names, rows)
    lines = list(sweep_lines(names, rows))[:MOST_LINES]
    if axis is None or not lines:
        return _cell_chart(rows, title)
    doubling = is_budget_key(names[axis])
    ends = [end for each in lines for elo in each.elos for end in (elo.low, elo.high, elo.value)]
    places = [axis_position(x, doubling) for each in lines for x in each.xs]
    margin = MARGIN * (max(places) - min(places))
    around = [min(places) - margin, max(places) + margin]
    frame = make_frame(around, [0.0, *(end for end in ends if end is not None)])
    parts = [horizontal_line(frame, 0.0, "even", INK)]
    for number, each in enumerate(lines):
        parts += _series(frame, each, COLOURS[number % len(COLOURS)], number)
    values = sorted({x for each in lines for x in each.xs})
    ticks = [(axis_position(x, doubling), f"{x:,g}") for x in values]
    return xy_chart(frame, parts, title, printable(names[axis]), "Elo", ticks)


def axis_position(x: float, doubling: bool) -> float:
    """Return the position of a number; budgets have a logarithmic axis."""
    return math.log2(x) if doubling else x


def _series(frame: Frame, shown: SweepLine, colour: str, number: int) -> Iterator[Html]:
    known = [
        (axis_position(x, shown.doubling), elo)
        for x, elo in zip(shown.xs, shown.elos, strict=True)
        if elo.value is not None
    ]
    if not known:
        return
    # Shift each line, or its intervals would hide those of the line before.
    xs = [x + number * SHIFT * (frame.x[1] - frame.x[0]) for x, _ in known]
    values = [elo.value or 0.0 for _, elo in known]
    lows = [elo.value or 0.0 if elo.low is None else elo.low for _, elo in known]
    highs = [elo.value or 0.0 if elo.high is None else elo.high for _, elo in known]
    yield error_bars(frame, xs, lows, highs, colour)
    yield line(frame, xs, values, colour)
    yield dots(frame, xs, values, colour)
    if shown.name:
        yield series_label(number, printable(shown.name, LONGEST), colour)


def _cell_chart(rows: Sequence[SweepCellRow], title: str) -> Chart:
    elos = [row.estimate.elo for row in rows]
    one = SweepLine("", tuple(float(at) for at in range(1, len(rows) + 1)), tuple(elos), False)
    ends = [end for elo in elos for end in (elo.low, elo.high, elo.value) if end is not None]
    frame = make_frame([0.5, len(rows) + 0.5], [0.0, *ends])
    parts = [horizontal_line(frame, 0.0, "even", INK), *_series(frame, one, BLUE, 0)]
    return xy_chart(frame, parts, title, "cell", "Elo")


def sweep_page(
    title: str,
    names: Sequence[str],
    rows: Sequence[SweepCellRow],
    verdict: Sequence[str],
    chart: Chart,
) -> str:
    """Return the whole page; the first line of the verdict is the answer."""
    answer, *more = verdict
    cells = tuple((*_cell_texts(row), row.run) for row in rows)
    table = FigureTable((*_head(names), "run"), cells, text_columns=len(names))
    note = paragraph("Each cell is a run: pitflip report RUN writes its page.")
    cell_section = section("Cells", table_html(table, "All cells of the sweep"), note)
    return text_document(title, answer, [*map(paragraph, more), chart.html(), cell_section])
