"""By how much games were won, and how long they were."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.report.data import ReportData
from arena.report.figure import Figure, FigureTable, empty_section, lead_paragraph, table_details
from arena.report.html import Html, isolate, join, tag
from arena.report.numbers import count, counted, minus, share
from arena.report.svg import Picture, embed, inline_svg, level_line, rect, words

BINS = 26
HEIGHT, TOP, BOTTOM = 150, 20, 20  # pixels


class Histogram(NamedTuple):
    """How often each number was seen, in ascending order; none zero times."""

    numbers: NDArray[np.int64] = np.empty(0, np.int64)
    counts: NDArray[np.int64] = np.empty(0, np.int64)

    @property
    def total(self) -> int:
        """How many numbers were seen."""
        return int(self.counts.sum())

    @property
    def median(self) -> int:
        """The middle of all numbers, rounded towards 0; of two middles their mean."""
        ends = np.cumsum(self.counts)
        places = [(self.total - 1) // 2, self.total // 2]
        return int(self.numbers[np.searchsorted(ends, places, side="right")].mean())

    def with_numbers(self, numbers: NDArray[np.int64]) -> "Histogram":
        """The tally with more numbers."""
        return self.with_counts(numbers, np.ones_like(numbers))

    def with_counts(self, numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> "Histogram":
        """The tally with more numbers, each seen so often."""
        whole = np.concatenate([self.numbers, numbers[counts > 0]])
        often = np.concatenate([self.counts, counts[counts > 0]])
        new, place = np.unique(whole, return_inverse=True)
        return Histogram(new, np.bincount(place.ravel(), often).astype(np.int64))


class Bins(NamedTuple):
    """A histogram: how many numbers lie in steps of `width` from `low`."""

    low: int
    width: int
    counts: NDArray[np.int64]


def figure(report: ReportData) -> Figure | None:
    """Two histograms side by side: margins and lengths of all games that were played to an end."""
    heading = "Margins and lengths"
    margin, plies = margin_and_length_counts(report)
    if not margin.total:
        return Figure(heading, empty_section("No game was played to its end."))
    title = "Points between winner and loser"
    if report.two:
        title = f"Points ahead of {isolate(report.agents[1])}, seen by {isolate(report.agents[0])}"
    margins, lengths = bin_counts(margin), bin_counts(plies)
    pictures = (
        (title, draw_histogram(margins, signed=report.two)),
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
    lead = join([_lead(margin, plies), _left_out(report.games.size - margin.total)])
    return Figure(heading, lead, both, _numbers(margins, lengths), body, short="Margins")


def _title(place: int, name: str) -> Html:
    return tag("text", name, x=352 * place, y=14, class_="strong")


def margin_and_length_counts(report: ReportData) -> tuple[Histogram, Histogram]:
    """Margins and plies of all games that were played to an end."""
    margins, plies = Histogram(), Histogram()
    for piece in report.games.pieces():
        games = piece.at(np.flatnonzero(~report.games.forfeited(piece)))
        margin = np.abs(games.margin)
        if report.two:
            top = report.games.names.index(report.agents[0])
            margin = np.where(games.first == top, games.margin, -games.margin)
        margins, plies = margins.with_numbers(margin), plies.with_numbers(games.plies)
    return margins, plies


def _lead(margin: Histogram, plies: Histogram) -> Html:
    won = Histogram().with_counts(np.abs(margin.numbers), margin.counts * (margin.numbers != 0))
    drawn_share = 1.0 - won.total / margin.total
    usual = f"Half of the won games were won by {won.median} or more; " if won.total else ""
    drawn_games = f"{share(drawn_share)} were drawn" if drawn_share else "none was drawn"
    rest = f". Half took {plies.median} plies or more."
    if not usual:
        drawn_games = drawn_games[:1].upper() + drawn_games[1:]
    return lead_paragraph(usual, drawn_games, rest)


def _left_out(forfeits: int) -> Html | None:
    """How many games the figure leaves out: the scores of the page have them all."""
    if not forfeits:
        return None
    games, verb = counted(forfeits, "forfeited game"), "is" if forfeits == 1 else "are"
    return lead_paragraph(f"{games}, not played to an end, {verb} left out of this figure only.")


def bin_counts(tally: Histogram) -> Bins:
    """At most BINS steps of equal whole width from the smallest number to the largest."""
    low, high = int(tally.numbers.min()), int(tally.numbers.max())
    width = -(-(high - low + 1) // BINS)
    counts = np.bincount((tally.numbers - low) // width, tally.counts)
    return Bins(low, width, counts.astype(np.int64))


def draw_histogram(bins: Bins, signed: bool = False) -> Picture:
    """The bars, the largest with its count, the ends and the middle of the axis.

    Bars of `signed` numbers have the colour of the side that is ahead.
    """
    largest = counted(int(bins.counts.max()), "game")
    number, top = len(bins.counts), int(bins.counts.max())
    space, wide = HEIGHT - TOP - BOTTOM, 100.0 / len(bins.counts)
    parts = [level_line(0, 100, HEIGHT - BOTTOM, "grid")]
    for place, size in enumerate(bins.counts.tolist()):
        high = max(space * size / top, 1.0 if size else 0.0)
        if size:
            left = wide * place
            y = HEIGHT - BOTTOM - high
            parts.append(rect(left, left + wide * 0.92, y, high, _kind(bins, place, signed)))
    peak = wide * (int(bins.counts.argmax()) + 0.5)
    anchor = "start" if peak < 20 else "end" if peak > 80 else "middle"
    at = 0.0 if anchor == "start" else 100.0 if anchor == "end" else peak
    parts.append(words(at, 12, largest, anchor))
    ends = sorted({0, number // 2, number - 1})
    for place in ends:
        anchor = "start" if place == 0 else "end" if place == number - 1 else "middle"
        at = 0.0 if place == 0 else 100.0 if place == number - 1 else wide * (place + 0.5)
        parts.append(words(at, HEIGHT - 5, bin_label(bins, place), anchor))
    return Picture(HEIGHT, join(parts))


def _kind(bins: Bins, place: int, signed: bool) -> str:
    first = bins.low + place * bins.width
    if not signed or first <= 0 <= first + bins.width - 1:
        return "even"
    return "bar" if first > 0 else "worse"


def bin_label(bins: Bins, place: int) -> str:
    """The numbers of a step: `4`, or `4 to 5`."""
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
    return FigureTable(("what", "from to", "games"), tuple(rows), words=1)
