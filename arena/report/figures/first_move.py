"""The score of the first movers, over all games and in each match."""

from functools import partial

from arena.analysis.tables import WinRateRow, row_mirror_text
from arena.report.chart import ROW, ChartRow, RowChart, chart_picture, ticks, with_axis_title
from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_paragraph,
    lead_paragraph,
    strong,
    table_html,
)
from arena.report.html import Html, join, name_of, tag
from arena.report.numbers import (
    bare_share,
    capitalize,
    confidence,
    count,
    decisive_end,
    first_mover_of,
    has_end,
    minus,
    share,
    share_ends,
)
from arena.report.svg import Picture, Scale, grid, interval_marks, svg_text, tick_labels
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import mean_margin_text
from games.base.text import count_noun

TOP, ALL = 20, 38  # pixels: the axis, the row of all games
FEW, FEW_ROW, MANY_ROW = 12, 22, 7  # matches with large rows; pixels of a row
MARGIN = 0.03  # of the scale, beyond the widest interval
SIGN = "\u00a0%"
MOST_ROWS = 400  # matches, half of them with the highest and half with the lowest scores
MOST_NAMED = 45  # matches of a file with their names
AXIS_TITLE = "score of the first mover, in per cent"
CHANCE = 0.05  # that an interval excludes the true value


def first_move_figure(report: ReportData) -> Figure:
    """Return the interval of all games, and a row for each match below it."""
    known = report.first_mover
    heading = "First move"
    if known.value is None or (not has_end(known) and known.kind != EstimateKind.CENSUS):
        table = _each_match(report)
        body = None if table is None else table_html(table, "First movers, match by match")
        return Figure(heading, _no_inference_html(report, known), table=table, body=body)
    rows = [row for row in report.matches() if row.first_mover_score is not None]
    rows.sort(key=lambda row: row.first_mover_score or 0.0, reverse=True)
    rows = [] if report.has_two_agents else rows
    notes = _notes(report, rows)
    if len(rows) > MOST_ROWS:
        rows = rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    table = FigureTable(
        ("agent", "opponent", "first mover scored", "interval", "openings"),
        (
            ("all games", "", share(known.value), share_ends(known), count(report.openings)),
            *(_number_row(row) for row in rows),
        ),
        text_columns=2,
    )
    picture = _picture(report, known, rows)._replace(redraw=partial(_file_picture, report, rows))
    return Figure(heading, _lead_html(report, known), picture, table, notes=notes)


def _each_match(report: ReportData) -> FigureTable | None:
    rows = []
    for row in report.matches():
        if row.first_mover_score is None:
            continue
        margin = row.first_mover_margin
        mean = "" if margin is None else minus(mean_margin_text(margin))
        names = name_of(row.agent), name_of(row.opponent)
        known = share(row.first_mover_score), mean, row_mirror_text(row)
        rows.append((*names, count(row.distinct_games), *known))
    head = ("agent", "opponent", "distinct games", "first mover scored", "mean margin", "")
    return FigureTable(head, tuple(rows), text_columns=2) if rows else None


def _no_inference_html(report: ReportData, known: Estimate) -> Html:
    if known.value is None and report.games.size:
        return empty_paragraph(f"{capitalize(known.reason)}.")
    if known.value is None:
        return empty_paragraph("No games were played.")
    return empty_paragraph(
        f"{_first_mover_text(report)} scored {share(known.value)} of {_games_text(report)}. "
        f"{capitalize(known.reason)}."
    )


def _games_text(report: ReportData) -> str:
    _, _, forfeits, _ = report.game_counts
    return "pairs without a forfeit" if forfeits else count_noun(report.games.size, "game")


def _lead_html(report: ReportData, known: Estimate) -> Html:
    assert known.value is not None
    sure = f"{100 * known.level:g}\u00a0%: {share_ends(known)}"
    if known.kind == EstimateKind.SPRT:
        sure += ", which ignores the test that ended the games"
    if known.kind == EstimateKind.CENSUS:
        sure = "exact: these are all openings there are"
    end = decisive_end(known)
    if end is None:
        answer = join(["The interval includes 50\u00a0%: ", strong("no advantage is shown"),
                         ", either way."])  # fmt: skip
    else:
        side = "first" if end > 0.5 else "second"
        answer = join([strong(f"The {side} mover has the advantage"), "."])
    return lead_paragraph(
        f"{_first_mover_text(report)} scored ", strong(share(known.value)), f" ({sure}). ", answer
    )


def _first_mover_text(report: ReportData) -> str:
    return capitalize(report.first_mover_text)


def _file_picture(report: ReportData, rows: list[WinRateRow], width: int) -> Picture:
    """Return the picture for a file: a row with a name for each match, unless there are many."""
    known = report.first_mover
    if len(rows) > MOST_NAMED:
        strip = _picture(report, known, rows)._replace(width=width)
        return with_axis_title(strip, f"{AXIS_TITLE}, by match")
    scale, texts = _scale([known, *map(first_mover_of, rows)])
    names = [f"all {_games_text(report)}"]
    names += [f"{row.agent} \u2013 {row.opponent}" for row in rows]
    chart_rows = [
        ChartRow(
            name,
            interval_marks(scale, each, ROW / 2, *((10, 3.5, "few") if place else (12, 4))),
            [share(each.value or 0.0), share_ends(each)],
        )
        for place, (name, each) in enumerate(
            zip(names, [known, *map(first_mover_of, rows)], strict=True)
        )
    ]
    heads = ("match", "score", confidence(known.level))
    chart = RowChart("First movers", scale, texts, chart_rows, heads, 0.5, axis_title=AXIS_TITLE)
    return chart_picture(chart, width)


def _scale(all_known: list[Estimate]) -> tuple[Scale, list[tuple[float, str]]]:
    """Return the scale of scores for these estimates, with its ticks."""
    ends = [
        end for each in all_known for end in (each.value, each.low, each.high) if end is not None
    ]
    low, high = min([*ends, 0.4]), max([*ends, 0.6])
    margin = MARGIN * (high - low)
    scale = Scale(max(low - margin, 0.0), min(high + margin, 1.0))
    across = ticks(scale.low, scale.high, 6)
    return scale, [(tick, f"{100 * tick:g}" + SIGN * (tick == 0.5)) for tick in across]


def _picture(report: ReportData, known: Estimate, rows: list[WinRateRow]) -> Picture:
    scale, texts = _scale([known, *map(first_mover_of, rows)])
    row_height = FEW_ROW if len(rows) <= FEW else MANY_ROW
    height = TOP + ALL + row_height * len(rows)
    large = row_height == FEW_ROW
    marks = [
        tick_labels(scale, texts, 13),
        _grid_below_axis(scale, [tick for tick, _ in texts], height),
        interval_marks(scale, known, TOP + ALL / 2, 15, 5),
        _label(scale, known, f"all {_games_text(report)}"),
    ]
    for place, row in enumerate(rows):
        y = TOP + ALL + row_height * (place + 0.5)
        size = (10, 3.5) if large else (4, 1.9)
        marks.append(interval_marks(scale, first_mover_of(row), y, *size, kind="few"))
        marks.append(tag("rect", y=f"{y - row_height / 2:g}", width="100%", height=row_height,
                         class_="hit", data_row=place + 1))  # fmt: skip
    return Picture(height, join(marks))


def _grid_below_axis(scale: Scale, across: list[float], height: int) -> Html:
    inside = grid(scale, across, height - TOP, 0.5)
    return tag("svg", inside, y=TOP, overflow="visible")


def _label(scale: Scale, known: Estimate, text: str) -> Html:
    """Return the label of the band of all games, on a side with enough space."""
    right = scale.at(known.value or 0.5 if known.high is None else known.high)
    y = TOP + ALL / 2 + 4
    if right < 75:
        return svg_text(right + 1.2, y, text, "start", "strong")
    left = scale.at(known.value or 0.5 if known.low is None else known.low)
    if left < 25:  # above the band
        return svg_text(100, TOP + 9, text, "end", "strong")
    return svg_text(left - 1.2, y, text, "end", "strong")


def _number_row(row: WinRateRow) -> tuple[Html | str, ...]:
    known = first_mover_of(row)
    value = bare_share(known.value or 0.0) + "\u00a0%"
    ends = share_ends(known)
    return name_of(row.agent), name_of(row.opponent), value, ends, count(row.openings)


def _notes(report: ReportData, rows: list[WinRateRow]) -> Html | None:
    if not rows:
        return None
    outside = sum(decisive_end(first_mover_of(row)) is not None for row in rows)
    by_chance = f"{CHANCE * len(rows):.1f}".removesuffix(".0")
    shown = f"{len(rows):,} by score"
    if len(rows) > MOST_ROWS:
        shown = f"the {MOST_ROWS // 2} first and the {MOST_ROWS // 2} last of {shown}"
    return tag(
        "p",
        f"There is a row for each match, {shown}. {outside} of {len(rows)} ",
        f"exclude 50\u00a0%; by chance alone about {by_chance} would. ",
        "The matches share their openings.",
        class_="note",
    )
