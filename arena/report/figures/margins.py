"""Margins and lengths of games as histograms."""

from typing import NamedTuple

import numpy as np

from arena.report.data import Numbers, ReportData
from arena.report.figure import Figure, FigureTable, empty_paragraph, lead_paragraph, table_details
from arena.report.html import Html, isolate, join, tag
from arena.report.numbers import capitalize, count, minus, share
from arena.report.svg import Picture, embed, horizontal_line, inline_svg, rect, svg_text
from games.base.text import count_noun

BINS = 26
HEIGHT, TOP, BOTTOM = 150, 20, 20  # pixels


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
    both = Picture(
        HEIGHT + 24,
        join([
            join([_title(place, name), embed(352 * place, 24, 336, picture)])
            for place, (name, picture) in enumerate(pictures)
        ]),
    )  # fmt: skip
    lead = join([_lead(margin, plies), _omission_note(report.games.size - len(margin))])
    return Figure(heading, lead, both, _numbers(margins, lengths), body, menu_label="Margins")


def _title(place: int, name: str) -> Html:
    return tag("text", name, x=352 * place, y=14, class_="strong")


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
    return FigureTable(("what", "from to", "games"), tuple(rows), text_columns=1)
