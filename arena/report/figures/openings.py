"""The openings, and which of them decided their games."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.report.data import ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_paragraph,
    lead_paragraph,
    strong,
    table_details,
    table_html,
)
from arena.report.html import Html, Inside, isolate, join, name_of, tag
from arena.report.numbers import count, share
from arena.report.palette import ramp_class
from arena.report.svg import Picture, embed, inline_svg, per_cent, rect, text_width
from games.base.text import count_noun

MOST_CELLS = 2000
MOST_COLUMNS = 400
LISTED = 6
CELL, HIGHEST, LOWEST = 4, 270, 48  # pixels
SQUARES = range(14, 8, -1)  # pixels of a square
ACROSS = 108  # squares of the smallest size in a row
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEGEND = (
    (1.0, "the first mover won both games"),
    (0.75, "won and drew"),
    (0.5, "each won one, or both were drawn"),
    (0.25, "lost and drew"),
    (0.0, "lost both; a column is an opening"),
)
SWATCH = 12  # pixels
Floats = NDArray[np.float64]


class OpeningResults(NamedTuple):
    """The pairs of games on each opening with equal results, as columns; scores are means."""

    opening: NDArray[np.int64]  # places in `openings`
    times: NDArray[np.int64]  # how many pairs have this result
    earliest: NDArray[np.int64]  # the row of the first game on each of `openings`
    openings: NDArray[np.int64]  # their numbers
    first_mover: Floats  # score of the agents to move after the opening
    agent: Floats  # score of the first agent in the ratings


def openings_figure(report: ReportData) -> Figure | None:
    """Return a column for each opening, or a square for two agents."""
    heading = "Openings"
    if not report.games.size:
        return Figure(heading, empty_paragraph("No games were played."))
    if report.openings == 1:
        where = "the starting position" if report.plan.openings.method == "none" else "one opening"
        return Figure(heading, empty_paragraph(f"All games started from {where}."))
    cells = opening_results(report)
    if not cells.agent.size:
        return Figure(
            heading, empty_paragraph("No opening was played from both sides without a forfeit.")
        )
    return _squares(report, cells) if report.has_two_agents else _columns(report, cells)


def opening_results(report: ReportData) -> OpeningResults:
    """Return the results of the pairs in which both games ended without a fault."""
    keys, rows, times = (np.empty(0, np.int64) for _ in range(3))
    for start, piece in report.games.chunks_with_rows():
        fair = report.games.fault_free(piece)
        at = np.flatnonzero(np.repeat(fair[0::2] & fair[1::2], 2))
        games = piece.take(at)
        points = np.rint(2 * np.stack([games.result[0::2], games.result[1::2]])).astype(np.int64)
        agent = points[0] + 2 - points[1]
        points = np.where(games.mover[0::2] == games.first[0::2], points, 2 - points)
        if report.has_two_agents:
            top = report.games.names.index(report.agents[0])
            agent = np.where(games.first[0::2] == top, agent, 4 - agent)
        own = (games.opening[0::2] * 5 + points[0] + points[1]) * 5 + agent
        keys = np.concatenate([keys, own])
        rows = np.concatenate([rows, start + at[0::2]])
        times = np.concatenate([times, np.ones_like(own)])
        keys, first, place = np.unique(keys, return_index=True, return_inverse=True)
        rows, times = rows[first], np.bincount(place.ravel(), times).astype(np.int64)
    openings, first, places = np.unique(keys // 25, return_index=True, return_inverse=True)
    earliest = np.minimum.reduceat(rows, first) if len(first) else first
    return OpeningResults(
        places.ravel(), times, earliest, openings, keys // 5 % 5 / 4, keys % 5 / 4
    )


def _means(cells: OpeningResults, scores: Floats) -> Floats:
    means: Floats = np.bincount(cells.opening, scores * cells.times) / _sizes(cells)
    return means


def _sizes(cells: OpeningResults) -> NDArray[np.int64]:
    """Return the number of pairs of each opening."""
    return np.bincount(cells.opening, cells.times).astype(np.int64)


def _seat_decisions(cells: OpeningResults) -> Floats:
    """Return how many pairs of each opening the side decided: one side won both games."""
    by_side = np.abs(cells.first_mover - 0.5) == 0.5
    return np.bincount(cells.opening, by_side * cells.times).astype(np.float64)


def _columns(report: ReportData, cells: OpeningResults) -> Figure:
    means = _means(cells, cells.first_mover)
    decided = _seat_decisions(cells)
    sizes = _sizes(cells)
    most, total = int(np.count_nonzero(2 * decided > sizes)), len(means)
    shown = np.arange(total)
    if total > MOST_COLUMNS:
        shown = np.sort(np.argsort(-np.abs(means - 0.5), kind="stable")[:MOST_COLUMNS])
    shown = shown[np.argsort(-means[shown], kind="stable")]
    lead = lead_paragraph(
        "A column is an opening, and a cell is a match. Blue: the first mover won both games; "
        "orange: the second mover won both; grey: the opening decided nothing. ",
        strong(f"{count(most)} of {count_noun(total, 'opening')} decided more than half"),
        " of their matches by the side alone.",
        f" Drawn are the {MOST_COLUMNS} that decide most." if total > MOST_COLUMNS else None,
    )
    ends = join(
        tag("span", words)
        for words in ("\u2190 good for the first mover", "fair", "good for the second mover \u2192")
    )
    table = _numbers(report, cells, shown)
    picture = with_legend(_column_picture(cells, shown), LEGEND)
    drawing = inline_svg(picture, "Openings, a column each")
    drawn = tag("figure", drawing, tag("p", ends, class_="ends"))
    body = join([
        drawn, table_details(table, "The openings in numbers"),
        _decisive_openings(report, cells, decided),
    ])  # fmt: skip
    return Figure("Openings", lead, picture, table, body, _cost_note())


def with_legend(picture: Picture, legend: Sequence[tuple[float, str]]) -> Picture:
    """Return a picture with the meaning of scores as colours below it in a file."""

    def redraw(width: int) -> Picture:
        parts, x, y = [embed(0, 0, width, picture)], 0.0, picture.height + 8
        for score, text in legend:
            wide = SWATCH + 6 + text_width(text)
            if x and x + wide > width:
                x, y = 0.0, y + 18
            box = tag(
                "rect", x=f"{x:g}", y=y, width=SWATCH, height=SWATCH, class_=ramp_class(score)
            )
            parts += [box, tag("text", text, x=f"{x + SWATCH + 6:g}", y=y + SWATCH - 1)]
            x += wide + 12
        return Picture(y + SWATCH + 6, join(parts), width)

    return picture._replace(redraw=redraw)


def _column_picture(cells: OpeningResults, shown: NDArray[np.int64]) -> Picture:
    counts = np.stack([
        np.bincount(
            cells.opening, (cells.first_mover == score) * cells.times, len(cells.openings)
        ).astype(np.int64)
        for score in SCORES[::-1]
    ])  # fmt: skip
    tallest = int(counts.sum(axis=0).max())
    height = min(HIGHEST, max(LOWEST, CELL * tallest))
    wide, parts = 100.0 / len(shown), []
    for place, opening in enumerate(shown.tolist()):
        column, top, total = counts[:, opening].tolist(), 0.0, int(counts[:, opening].sum())
        for score, number in zip(SCORES[::-1], column, strict=True):
            high = height * number / total
            if number:
                kind = ramp_class(score)
                parts.append(rect(wide * place, wide * (place + 1) - wide * 0.06, top, high, kind))
            top += high
        parts.append(_pointer_target(place, wide * place, wide))
    return Picture(height, join(parts))


def _pointer_target(place: int, left: float, wide: float) -> Html:
    """Return the target of the pointer on a column, with the row of its numbers."""
    return tag("rect", x=per_cent(left), width=per_cent(wide), height="100%", class_="hit",
               data_row=place)  # fmt: skip


def _squares(report: ReportData, cells: OpeningResults) -> Figure:
    agent = report.agents[0]
    means = _means(cells, cells.agent)
    values, counts = np.unique(means, return_counts=True)
    common = values[np.argmax(counts)]
    order = np.lexsort((means, np.bincount(np.searchsorted(values, means))[
        np.searchsorted(values, means)]))  # fmt: skip
    shown = order[:MOST_CELLS]
    rare = np.count_nonzero(means != common)
    lead = lead_paragraph(
        "Each cell is one opening, with the score of ", name_of(agent),
        " in its games. The rare results come first and are outlined: ",
        strong(f"{count(int(rare))} of {count_noun(len(means), 'opening')} differ"),
        " from the rest.",
        f" Drawn are {MOST_CELLS:,}." if len(means) > MOST_CELLS else None,
    )  # fmt: skip
    table = _numbers(report, cells, shown, means)
    picture = with_legend(
        _square_picture(means[shown], float(common)),
        ((0.0, f"{agent} scored nothing"), (0.5, "half"), (1.0, "everything")),
    )
    body = join([
        tag("p", "scored nothing", tag("span", join(
            tag("i", class_=f"r{step}") for step in range(0, 51, 2)), class_="ramp",
            aria_hidden="true"), "won everything", class_="scale"),
        tag("figure", inline_svg(picture, f"Openings by the score of {isolate(agent)}")),
        table_details(table, "The openings in numbers"),
        _decisive_openings(report, cells, _seat_decisions(cells)),
    ])  # fmt: skip
    return Figure("Openings", lead, picture, table, body, _cost_note())


def _square_picture(means: Floats, common: float) -> Picture:
    """Return squares as large as they can be in at most a dozen rows."""
    across = next((720 // size for size in SQUARES if len(means) <= 12 * (720 // size)), ACROSS)
    high, wide = max(720 // across, 9), 100.0 / across
    parts = []
    for place, mean in enumerate(means.tolist()):
        row, column = divmod(place, across)
        rare = mean != common
        parts.append(
            tag(
                "rect", x=per_cent(wide * column + 0.06), y=high * row + 1,
                width=per_cent(wide - 0.12), height=high - 2,
                class_=ramp_class(mean) + (" rare" if rare else ""), data_row=place,
            )
        )  # fmt: skip
    return Picture(high * (1 + (len(means) - 1) // across) + 2, join(parts))


def _decisive_openings(report: ReportData, cells: OpeningResults, decided: Floats) -> Html:
    """Return the openings in which the side decided most."""
    means = _means(cells, cells.first_mover)
    order = np.lexsort((-np.abs(means - 0.5), -decided))[:LISTED]
    order = order[means[order] != 0.5]
    if not len(order):
        return empty_paragraph("No opening gave one side more points than the other.")
    heading = "The openings that decide most"
    return join([tag("h3", heading), table_html(_numbers(report, cells, order), heading)])


def _numbers(
    report: ReportData,
    cells: OpeningResults,
    order: NDArray[np.int64],
    scores: Floats | None = None,
) -> FigureTable:
    """Return a row for each opening; `scores` are those of the first agent on all openings."""
    sizes, decided = _sizes(cells), _seat_decisions(cells)
    means = _means(cells, cells.first_mover)
    moves = report.games.texts("opening_moves", cells.earliest[order].tolist())
    rows: list[tuple[Inside, ...]] = []
    for place, opening in enumerate(order.tolist()):
        number, matches = int(cells.openings[opening]), int(sizes[opening])
        games = tag("a", count(2 * matches), href=f"#games=all&opening={number}")
        rows.append((
            str(number), tag("code", moves[place]) if moves and moves[place] else "start",
            share(float(means[opening])), f"{int(decided[opening])} of {matches}",
            *(() if scores is None else (share(float(scores[opening])),)), games,
        ))  # fmt: skip
    own = () if scores is None else (f"{isolate(report.agents[0])} scored",)
    head = ("opening", "moves", "first mover scored", "pairs decided by the side", *own, "games")
    return FigureTable(head, tuple(rows), text_columns=2)


def _cost_note() -> Html:
    return tag(
        "p",
        "An opening that the side decides cannot separate agents. It costs games, but does not "
        "bias the result, as both agents play both sides.",
        class_="note",
    )
