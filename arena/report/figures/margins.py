"""Margins and lengths of games as histograms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.report.chart import ticks
from arena.report.data import Numbers, ReportData
from arena.report.figure import Figure, FigureTable, empty_paragraph, lead_paragraph, table_details
from arena.report.html import Html, isolate, join, tag
from arena.report.numbers import capitalize, count, minus, share
from arena.report.svg import (
    PICTURE_WIDTH,
    Picture,
    embed,
    horizontal_line,
    inline_svg,
    rect,
    svg_text,
)
from games.base.text import count_noun

BINS = 26
HEIGHT, TOP, BOTTOM = 150, 20, 20  # pixels
# Of a file: its height, the space left of the bars, and between histograms side by side.
FILE_HEIGHT, SIDE, GAP, BESIDE = 178, 58, 16, 560


class Bins(NamedTuple):
    """Counts of the numbers in steps of `width` from `low`."""

    low: int
    width: int
    counts: Numbers


def margins_figure(report: ReportData) -> Figure | None:
    """Return histograms of the margins and lengths of the games that were not forfeited."""
    heading = "Margins and lengths"
    margin, plies = margins_and_lengths(report)
    if not len(margin):
        return Figure(heading, empty_paragraph("No game was played to its end."))
    title = "Points between winner and loser"
    if report.has_two_agents:
        title = f"Points ahead of {isolate(report.agents[1])}, seen by {isolate(report.agents[0])}"
    margins, lengths = bin_counts(margin), bin_counts(plies)
    pictures = (
        (title, draw_histogram(margins, signed=report.has_two_agents)),
        ("Plies, the opening included", draw_histogram(lengths)),
    )
    body = join([
        tag("div", *(
            tag("figure", tag("figcaption", name), inline_svg(picture, name))
            for name, picture in pictures
        ), class_="beside"),
        table_details(_numbers(margins, lengths), "Margins and lengths in numbers"),
    ])  # fmt: skip
    both = _file_picture(pictures, (margins, lengths), PICTURE_WIDTH)
    lead = join([_lead(margin, plies), _omission_note(report.games.size - len(margin))])
    return Figure(heading, lead, both, _numbers(margins, lengths), body, menu_label="Margins")


def _file_picture(
    pictures: Sequence[tuple[str, Picture]], counts: Sequence[Bins], width: int
) -> Picture:
    """Return the histograms side by side, or below one another if the picture is narrow."""
    beside = width >= BESIDE
    wide = (width - GAP) / 2 if beside else float(width)
    parts = [
        _with_axes(name, picture, int(bins.counts.max()), (wide + GAP) * place * beside,
                   FILE_HEIGHT * place * (not beside), wide)
        for place, ((name, picture), bins) in enumerate(zip(pictures, counts, strict=True))
    ]  # fmt: skip
    height = FILE_HEIGHT if beside else 2 * FILE_HEIGHT
    return Picture(
        height, join(parts), width, redraw=lambda other: _file_picture(pictures, counts, other)
    )


def _with_axes(
    name: str, picture: Picture, most: int, left: float, top: float, wide: float
) -> Html:
    """Return a histogram with the numbers of games on the left and the titles of both axes."""
    bottom = top + HEIGHT - BOTTOM
    space = HEIGHT - TOP - BOTTOM
    marks = [embed(left + SIDE, top, wide - SIDE, picture)]
    for number in ticks(0, most, 3, (1, 2, 5, 10)):
        y = bottom - space * number / most
        marks.append(tag("text", count(int(number)), x=f"{left + SIDE - 6:g}", y=f"{y + 4:g}",
                         text_anchor="end"))  # fmt: skip
        marks.append(tag("line", x1=f"{left + SIDE - 4:g}", x2=f"{left + SIDE:g}", y1=f"{y:g}",
                         y2=f"{y:g}", class_="axis"))  # fmt: skip
    turn = f"translate({left + 11:g} {bottom - space / 2:g}) rotate(-90)"
    marks.append(tag("text", "games", transform=turn, text_anchor="middle"))
    marks.append(tag("text", name, x=f"{left + (SIDE + wide) / 2:g}", y=f"{top + HEIGHT + 14:g}",
                     text_anchor="middle"))  # fmt: skip
    return join(marks)


def margins_and_lengths(report: ReportData) -> tuple[Numbers, Numbers]:
    """Return the margins and plies of the games that were not forfeited.

    Margins of two agents are those of the first agent in the ratings.
    """
    margins, plies = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for chunk in report.games.chunks():
        games = chunk.take(np.flatnonzero(~report.games.forfeits(chunk)))
        margin = np.abs(games.margin)
        if report.has_two_agents:
            top = report.games.names.index(report.agents[0])
            margin = np.where(games.first == top, games.margin, -games.margin)
        margins.append(margin)
        plies.append(games.plies)
    return np.concatenate(margins), np.concatenate(plies)


def _lead(margins: Numbers, plies: Numbers) -> Html:
    won = np.abs(margins[margins != 0])
    drawn = 1.0 - len(won) / len(margins)
    text = f"{share(drawn)} were drawn" if drawn else "none was drawn"
    if len(won):
        text = f"Half of the won games were won by {int(np.median(won))} or more; {text}"
    return lead_paragraph(f"{capitalize(text)}. Half took {int(np.median(plies))} plies or more.")


def _omission_note(forfeits: int) -> Html | None:
    if not forfeits:
        return None
    games, verb = count_noun(forfeits, "forfeited game"), "is" if forfeits == 1 else "are"
    return lead_paragraph(f"{games}, not played to an end, {verb} left out of this figure only.")


def bin_counts(numbers: Numbers) -> Bins:
    """Return at most BINS steps of equal width from the smallest number to the largest."""
    low, high = int(numbers.min()), int(numbers.max())
    width = -(-(high - low + 1) // BINS)
    return Bins(low, width, np.bincount((numbers - low) // width))


def draw_histogram(bins: Bins, signed: bool = False) -> Picture:
    """Return the bars with the largest count and three labels of the axis.

    Bars of `signed` numbers have the colour of the side that is ahead.
    """
    largest = count_noun(int(bins.counts.max()), "game")
    number, top = len(bins.counts), int(bins.counts.max())
    space, wide = HEIGHT - TOP - BOTTOM, 100.0 / len(bins.counts)
    parts = [horizontal_line(0, 100, HEIGHT - BOTTOM, "grid")]
    for place, size in enumerate(bins.counts.tolist()):
        high = max(space * size / top, 1.0 if size else 0.0)
        if size:
            left = wide * place
            y = HEIGHT - BOTTOM - high
            parts.append(rect(left, left + wide * 0.92, y, high, _kind(bins, place, signed)))
    peak = wide * (int(bins.counts.argmax()) + 0.5)
    anchor = "start" if peak < 20 else "end" if peak > 80 else "middle"
    at = 0.0 if anchor == "start" else 100.0 if anchor == "end" else peak
    parts.append(svg_text(at, 12, largest, anchor))
    ends = sorted({0, number // 2, number - 1})
    for place in ends:
        anchor = "start" if place == 0 else "end" if place == number - 1 else "middle"
        at = 0.0 if place == 0 else 100.0 if place == number - 1 else wide * (place + 0.5)
        parts.append(svg_text(at, HEIGHT - 5, bin_label(bins, place), anchor))
    return Picture(HEIGHT, join(parts))


def _kind(bins: Bins, place: int, signed: bool) -> str:
    first = bins.low + place * bins.width
    if not signed or first <= 0 <= first + bins.width - 1:
        return "even"
    return "bar" if first > 0 else "worse"


def bin_label(bins: Bins, place: int) -> str:
    """Return the numbers of a step: `4`, or `4 to 5`."""
    first = bins.low + place * bins.width
    last = first + bins.width - 1
    return minus(str(first)) if first == last else minus(f"{first} to {last}")


def _numbers(margins: Bins, lengths: Bins) -> FigureTable:
    rows = [
        (what, bin_label(bins, place), count(int(size)))
        for what, bins in (("margin", margins), ("plies", lengths))
        for place, size in enumerate(bins.counts)
        if size
    ]
    return FigureTable(("quantity", "value", "games"), tuple(rows), text_columns=1)
