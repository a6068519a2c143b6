"""A page section: picture, numbers, sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.html import Html, Inside, join, tag, text
from arena.report.svg import Picture, inline_svg


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The numbers of a figure as texts; the first column names the row."""

    head: tuple[str, ...]
    rows: tuple[tuple[Inside, ...], ...]
    words: int = 1  # so many columns from the left are words, the others numbers


@dataclass(frozen=True, slots=True)
class Figure:
    """One section of the page.

    `lead` is what it says, in sentences. `body` replaces the picture with its numbers folded
    away below, where the page shows them in another way; without a picture nothing is drawn.
    """

    heading: str
    lead: Html
    picture: Picture | None = None
    table: FigureTable | None = None
    body: Html | None = None
    notes: Html | None = None
    short: str = ""  # the heading in the menu, if it is a long one


def lead_paragraph(*parts: Inside) -> Html:
    """A paragraph above a figure."""
    return tag("p", *parts, class_="lead")


def strong(*parts: Inside) -> Html:
    """What a reader in a hurry shall see."""
    return tag("b", *parts)


def empty_section(*parts: Inside) -> Html:
    """The one sentence of a section that has nothing to show."""
    return tag("p", *parts, class_="nothing")


def section_html(figure: Figure, place: str) -> Html:
    """The section; `place` is its name in links."""
    return tag(
        "section",
        tag("h2", figure.heading, id=f"{place}-h"),
        figure.lead,
        figure.body if figure.body is not None else _pictured(figure),
        figure.notes,
        id=place,
        aria_labelledby=f"{place}-h",
    )


def table_details(table: FigureTable, caption: str) -> Html:
    """A figure's numbers, folded away."""
    return tag("details", tag("summary", "Numbers"), table_html(table, caption))


def table_html(table: FigureTable, caption: str, kind: str = "") -> Html:
    """A table for readers and their machines."""
    heads = [
        tag("th", head, scope="col", class_=None if place < table.words else "n")
        for place, head in enumerate(table.head)
    ]
    rows = (
        tag("tr", *(_cell(cell, place, table.words) for place, cell in enumerate(row)))
        for row in table.rows
    )
    inside = tag(
        "table",
        tag("caption", caption, class_="hidden"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", join(rows)),
        class_=kind or None,
    )
    return tag("div", inside, class_="wide", tabindex=0, role="region", aria_label=caption)


def listed(names: Sequence[Inside], last: str = " and ") -> Html:
    """Names in a sentence."""
    if len(names) < 2:
        return join(names)
    return join([join(names[:-1], ", "), last, names[-1]])


def _pictured(figure: Figure) -> Html:
    return join([
        None if figure.picture is None else tag(
            "figure", inline_svg(figure.picture, figure.heading)
        ),
        None if figure.table is None else table_details(figure.table, figure.heading),
    ])  # fmt: skip


def _cell(cell: Inside, place: int, words: int) -> Html:
    content = text("") if cell is None else cell
    if place == 0:
        return tag("th", content, scope="row")
    return tag("td", content, class_=None if place < words else "n")
