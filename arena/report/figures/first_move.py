"""The first movers' score: all games, then every match."""

from arena.analysis.tables import WinRateRow, mirror_of
from arena.report.chart import ticks
from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_section,
    lead_paragraph,
    strong,
    table_html,
)
from arena.report.html import Html, join, name_of, tag
from arena.report.numbers import (
    CENSUS,
    SPRT,
    StoredEstimate,
    bare_share,
    count,
    counted,
    first_mover_of,
    minus,
    share,
    share_ends,
)
from arena.report.svg import Picture, Scale, grid, interval, labels, words
from arena.stats.text import signed_mean

TOP, ALL = 20, 38  # pixels: the axis, the row of all games
FEW, FEW_ROW, MANY_ROW = 12, 22, 7  # matches with large rows; pixels of a row
ROOM = 0.03
SIGN = "\u00a0%"
MOST_ROWS = 400  # matches, half of them from each end: more would be a picture of metres
CHANCE = 0.05  # of an interval to exclude what is true


def figure(report: ReportData) -> Figure:
    """The interval of all games, and below it a row for each match."""
    known = report.first_mover
    heading = "First move"
    if known.value is None or (not known.bounded and known.kind != CENSUS):
        table = _each_match(report)
        body = None if table is None else table_html(table, "First movers, match by match")
        return Figure(heading, _no_inference(report, known), table=table, body=body)
    rows = [row for row in report.met() if row.first_mover_score is not None]
    rows.sort(key=lambda row: row.first_mover_score or 0.0, reverse=True)
    rows = [] if report.two else rows
    notes = _notes(report, rows)
    if len(rows) > MOST_ROWS:
        rows = rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    table = FigureTable(
        ("agent", "opponent", "first mover scored", "interval", "openings"),
        (
            ("all games", "", share(known.value), share_ends(known), count(report.openings)),
            *(_numbers(row) for row in rows),
        ),
        words=2,
    )
    picture = _picture(report, known, rows)
    return Figure(heading, _lead(report, known), picture, table, notes=notes)


def _each_match(report: ReportData) -> FigureTable | None:
    """A row for each match: its distinct games, the first mover's score and margin."""
    rows = []
    for row in report.met():
        if row.first_mover_score is None:
            continue
        margin = row.first_mover_margin
        mean = "" if margin is None else minus(signed_mean(margin))
        names = name_of(row.agent), name_of(row.opponent)
        known = share(row.first_mover_score), mean, mirror_of(row)
        rows.append((*names, count(row.distinct_games), *known))
    head = ("agent", "opponent", "distinct games", "first mover scored", "mean margin", "")
    return FigureTable(head, tuple(rows), words=2) if rows else None


def _no_inference(report: ReportData, known: StoredEstimate) -> Html:
    if known.value is None and report.games.size:
        return empty_section(f"{known.why[:1].upper()}{known.why[1:]}.")
    if known.value is None:
        return empty_section("No games were played.")
    return empty_section(
        f"{_first_mover(report)} scored {share(known.value)} of {_games(report)}. "
        f"{known.why[:1].upper()}{known.why[1:]}."
    )


def _games(report: ReportData) -> str:
    """Name the games that tell about the first mover."""
    _, _, forfeits, _ = report.game_counts
    return "pairs without a forfeit" if forfeits else counted(report.games.size, "game")


def _lead(report: ReportData, known: StoredEstimate) -> Html:
    assert known.value is not None  # the caller has asked
    sure = f"{100 * known.level:g}\u00a0%: {share_ends(known)}"
    if known.kind == SPRT:
        sure += ", which ignores the test that ended the games"
    if known.kind == CENSUS:
        sure = "exact: these are all openings there are"
    if known.settled is None:
        answer = join(["The interval includes 50\u00a0%: ", strong("no advantage is shown"),
                         ", either way."])  # fmt: skip
    else:
        who = "first" if known.settled > 0.5 else "second"
        answer = join([strong(f"The {who} mover has the advantage"), "."])
    return lead_paragraph(
        f"{_first_mover(report)} scored ", strong(share(known.value)), f" ({sure}). ", answer
    )


def _first_mover(report: ReportData) -> str:
    words = report.first_mover_words
    return f"{words[:1].upper()}{words[1:]}"


def _picture(report: ReportData, known: StoredEstimate, rows: list[WinRateRow]) -> Picture:
    all_known = [known, *(first_mover_of(row) for row in rows)]
    ends = [end for each in all_known for end in each[:3] if end is not None]
    low, high = min([*ends, 0.4]), max([*ends, 0.6])
    room = ROOM * (high - low)
    scale = Scale(max(low - room, 0.0), min(high + room, 1.0))
    across = ticks(scale.low, scale.high, 6)
    row_height = FEW_ROW if len(rows) <= FEW else MANY_ROW
    height = TOP + ALL + row_height * len(rows)
    texts = [(tick, f"{100 * tick:g}" + SIGN * (tick == 0.5)) for tick in across]
    large = row_height == FEW_ROW
    marks = [
        labels(scale, texts, 13),
        _grid(scale, across, height),
        interval(scale, known, TOP + ALL / 2, 15, 5),
        _label(scale, known, f"all {_games(report)}"),
    ]
    for place, row in enumerate(rows):
        y = TOP + ALL + row_height * (place + 0.5)
        size = (10, 3.5) if large else (4, 1.9)
        marks.append(interval(scale, first_mover_of(row), y, *size, kind="few"))
        marks.append(tag("rect", y=f"{y - row_height / 2:g}", width="100%", height=row_height,
                         class_="hit", data_row=place + 1))  # fmt: skip
    return Picture(height, join(marks))


def _grid(scale: Scale, across: list[float], height: int) -> Html:
    inside = grid(scale, across, height - TOP, 0.5)
    return tag("svg", inside, y=TOP, overflow="visible")


def _label(scale: Scale, known: StoredEstimate, text: str) -> Html:
    """The words beside the band of all games, on the side where there is room."""
    right = scale.at(known.value or 0.5 if known.high is None else known.high)
    y = TOP + ALL / 2 + 4
    if right < 75:
        return words(right + 1.2, y, text, "start", "strong")
    left = scale.at(known.value or 0.5 if known.low is None else known.low)
    if left < 25:  # no room on either side: above the band
        return words(100, TOP + 9, text, "end", "strong")
    return words(left - 1.2, y, text, "end", "strong")


def _numbers(row: WinRateRow) -> tuple[Html | str, ...]:
    known = first_mover_of(row)
    value = bare_share(known.value or 0.0) + "\u00a0%"
    ends = share_ends(known)
    return name_of(row.agent), name_of(row.opponent), value, ends, count(row.openings)


def _notes(report: ReportData, rows: list[WinRateRow]) -> Html | None:
    if not rows:
        return None
    outside = sum(first_mover_of(row).settled is not None for row in rows)
    by_chance = f"{CHANCE * len(rows):.1f}".removesuffix(".0")
    shown = f"{len(rows):,} by score"
    if len(rows) > MOST_ROWS:
        shown = f"the {MOST_ROWS // 2} first and the {MOST_ROWS // 2} last of {shown}"
    return tag(
        "p",
        f"Below the line one row a match, {shown}. {outside} of {len(rows)} ",
        f"exclude 50\u00a0%; by chance alone about {by_chance} would. ",
        "The matches share their openings.",
        class_="note",
    )
