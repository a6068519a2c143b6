"""Who beat whom: a table of scores, coloured by what the games have settled."""

from arena.concluding.table_rows import WinRateRow
from arena.showing.figure import Figure, NumberTable, sentences, strong
from arena.showing.html import Html, isolated, joined, name_of, tag
from arena.showing.numbers import (
    bare_share,
    cell_ends,
    confidence,
    count,
    score_of,
    share,
    share_ends,
)
from arena.showing.palette import STEPS, step_of
from arena.showing.report_contents import Report
from arena.showing.row_chart import cut
from arena.showing.svg import Picture

MOST_NUMBERED = 24  # agents; more of them have smaller cells without numbers
MOST_SHOWN = 60  # agents: nobody reads more, and their cells would be most of the page
LONGEST_HEAD = 8
CELL, ROW, SMALL = 66, 42, 28  # pixels
NAMES = 150


def figure(report: Report) -> Figure | None:
    """The matrix of all agents; None for two."""
    if report.two and not report.files:
        return None
    level = confidence(report.ratings[0].level)
    if report.standing:
        lead = sentences(
            "Games won, drawn and lost by the row's agent. ",
            strong("No colour, because nothing can be inferred"),
            " from so few openings.",
        )
    else:
        lead = sentences(
            "Points won by the row's agent against the column's, in per cent, with the ",
            f"{level} interval below. ",
            strong("Colour shows the end of the interval nearer to 50\u00a0%"),
            ": what the games have not settled stays grey and dashed.",
        )
    lead = joined([lead, _left_out(report)])
    body = joined([None if report.standing else scale_in_words(), _table(report)])
    return Figure("Who beat whom", lead, _picture(report), _numbers(report), body)


def scale_in_words(worse: str = "row loses", better: str = "row wins") -> Html:
    """The scale of colours with its ends in words."""
    steps = joined(tag("i", class_=f"r{step}") for step in range(0, STEPS + 1, 2))
    return tag(
        "p", worse, tag("span", steps, class_="ramp", aria_hidden="true"), better,
        tag("span", class_="even swatch", aria_hidden="true"), "interval includes 50\u00a0%",
        class_="scale",
    )  # fmt: skip


def _shown(report: Report) -> tuple[str, ...]:
    """The agents of the matrix."""
    return report.agents[:MOST_SHOWN]


def _left_out(report: Report) -> Html | None:
    """What the matrix does not show."""
    agents = len(report.agents)
    if agents <= MOST_SHOWN:
        return None
    return sentences(f"These are the {MOST_SHOWN} strongest of {agents} agents: all pairs are in "
                     "win_rates.parquet.")  # fmt: skip


def _table(report: Report) -> Html:
    names = _shown(report)
    large = len(names) > MOST_NUMBERED
    tops = [
        tag(
            "th", str(place) if large else cut(name, LONGEST_HEAD), scope="col",
            title=isolated(name) if large or len(name) > LONGEST_HEAD else None,
        )
        for place, name in enumerate(names, 1)
    ]  # fmt: skip
    rows = (
        tag(
            "tr",
            tag("th", tag("span", place, class_="place"), name_of(name), scope="row"),
            *(_cell(report, name, other, large) for other in names),
        )
        for place, name in enumerate(names, 1)
    )
    inside = tag(
        "table",
        tag("caption", "Scores of the row's agent against the column's", class_="hidden"),
        tag("thead", tag("tr", tag("td"), *tops)),
        tag("tbody", joined(rows)),
        class_="matrix small" if large else "matrix",
        data_grid="",
    )
    return tag("div", inside, class_="wide", tabindex=0, role="region", aria_label="Who beat whom")


def _cell(report: Report, name: str, other: str, large: bool) -> Html:
    row = report.pairs.get((name, other))
    if row is None:
        return tag("td", class_="none")
    known = score_of(row)
    kind, content = "plain", joined([won_drawn_lost(row)])
    if not report.standing and known.value is not None:
        settled = known.settled
        kind = "even" if settled is None else step_of(settled)
        content = joined([bare_share(known.value), tag("small", cell_ends(known))])
    if large:
        content = tag("span", content, class_="hidden")
    return tag("td", content, class_=kind, data_tip=_tip(row), data_a=name, data_b=other)


def won_drawn_lost(row: WinRateRow) -> str:
    """The results of both seats together."""
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    return f"{wins}-{draws}-{row.first_losses + row.second_losses}"


def _tip(row: WinRateRow) -> str:
    lead = f"{isolated(row.agent)} against {isolated(row.opponent)}: {row.text}"
    if row.first_mover_score is None:
        return lead
    return (
        f"{lead}. Moving first {row.first_wins}-{row.first_draws}-{row.first_losses}, "
        f"second {row.second_wins}-{row.second_draws}-{row.second_losses}"
    )


def _numbers(report: Report) -> NumberTable:
    """Every pair once, for files and readers of the table."""
    rows, shown = [], frozenset(_shown(report))
    for row in report.met():
        if row.agent not in shown or row.opponent not in shown:
            continue
        known = score_of(row)
        value = known.why if known.value is None else share(known.value)
        sizes = (
            won_drawn_lost(row),
            count(row.openings),
            "" if row.n_eff is None else f"{row.n_eff:.0f}",
        )
        rows.append((name_of(row.agent), name_of(row.opponent), value, share_ends(known), *sizes))
    head = ("agent", "opponent", "score", "interval", "won-drawn-lost", "openings", "n_eff")
    return NumberTable(head, tuple(rows), words=2)


def _picture(report: Report) -> Picture:
    """The matrix as a drawing; its cells shrink with their number."""
    names = _shown(report)
    wide = min(CELL, (720 - 32 - NAMES) // max(len(names), 1))
    high = min(ROW, max(14, round(wide * 0.64)))
    parts: list[Html | None] = []
    for place, name in enumerate(names):
        top = 24 + place * high
        parts.append(_text(0, top + high / 2 + 4, f"{place + 1}  {cut(name)}", "strong"))
        head = cut(name, LONGEST_HEAD) if wide >= CELL - 12 else str(place + 1)
        parts.append(_text(NAMES + (place + 0.5) * wide, 14, head, "small", "middle"))
        for column, other in enumerate(names):
            left = NAMES + column * wide
            parts.append(_drawn(report, (name, other), (left, top, wide, high)))
    return Picture(30 + len(names) * high, joined(parts))


def _drawn(
    report: Report, pair: tuple[str, str], place: tuple[float, float, float, float]
) -> Html | None:
    row = report.pairs.get(pair)
    if row is None:
        return None
    left, top, wide, high = place
    known = score_of(row)
    settled = None if report.standing else known.settled
    kind = "open" if settled is None else step_of(settled)
    box = tag(
        "rect", x=f"{left + 1:g}", y=f"{top + 1:g}", width=f"{wide - 2:g}",
        height=f"{high - 2:g}", class_=kind,
    )  # fmt: skip
    plain = report.standing or known.value is None
    content = won_drawn_lost(row) if plain else bare_share(known.value or 0.0)
    middle, base = left + wide / 2, top + high / 2 + 4
    number, ends = _text(middle, base, content, "cell", "middle"), None
    if high >= 36 and not plain:
        number = _text(middle, base - 6, content, "cell", "middle")
        ends = tag(
            "text", cell_ends(known), x=f"{middle:g}", y=f"{base + 9:g}", class_="cell",
            font_weight="400", text_anchor="middle",
        )  # fmt: skip
    inside = joined([box, number if wide >= 30 else None, ends])
    return tag("g", inside, class_=f"on {kind}")


def _text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> Html:
    return tag("text", content, x=f"{x:g}", y=f"{y:g}", class_=kind, text_anchor=anchor)
