"""Sections of a page: a heading, a sentence, a picture and its numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.html import Html, Inside, join, tag, text
from arena.report.svg import Picture, inline_svg


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The numbers of a figure; the first `text_columns` columns are left-aligned texts."""

    head: tuple[str, ...]
    rows: tuple[tuple[Inside, ...], ...]
    text_columns: int = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """One section of the page.

    The page shows `body` if there is one, and else the picture with the folded table. Files of
    figures have the picture and the table.
    """

    heading: str
    lead: Html
    picture: Picture | None = None
    table: FigureTable | None = None
    body: Html | None = None
    notes: Html | None = None
    menu_label: str = ""  # a shorter heading for the menu


def lead_paragraph(*parts: Inside) -> Html:
    """Return the paragraph above a figure."""
    return tag("p", *parts, class_="lead")


def strong(*parts: Inside) -> Html:
    """Emphasise the main statement of a paragraph."""
    return tag("b", *parts)


def empty_paragraph(*parts: Inside) -> Html:
    """Return the sentence of a section without numbers."""
    return tag("p", *parts, class_="nothing")


def section_html(figure: Figure, name: str) -> Html:
    """Return the section of a figure; `name` is its name in links."""
    body = figure.body if figure.body is not None else _picture_html(figure)
    return section(figure.heading, figure.lead, body, figure.notes, name=name)


def section(heading: str, *parts: Inside, name: str | None = None) -> Html:
    """Return a section of a page; `name` is its name in links."""
    title = None if name is None else f"{name}-h"
    return tag("section", tag("h2", heading, id=title), *parts, id=name, aria_labelledby=title)


def table_details(table: FigureTable, caption: str) -> Html:
    """Return a table that is folded until a reader opens it."""
    return tag("details", tag("summary", "Numbers"), table_html(table, caption))


def table_html(table: FigureTable, caption: str, kind: str = "") -> Html:
    """Return a table; screen readers get its caption."""
    heads = [
        tag("th", head, scope="col", class_=None if place < table.text_columns else "n")
        for place, head in enumerate(table.head)
    ]
    rows = (
        tag("tr", *(_cell(cell, place, table.text_columns) for place, cell in enumerate(row)))
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


def join_names(names: Sequence[Inside], last: str = " and ") -> Html:
    """Join names for a sentence."""
    if len(names) < 2:
        return join(names)
    return join([join(names[:-1], ", "), last, names[-1]])


def _picture_html(figure: Figure) -> Html:
    return join([
        None if figure.picture is None else tag(
            "figure", inline_svg(figure.picture, figure.heading)
        ),
        None if figure.table is None else table_details(figure.table, figure.heading),
    ])  # fmt: skip


def _cell(cell: Inside, place: int, text_columns: int) -> Html:
    content = text("") if cell is None else cell
    if place == 0:
        return tag("th", content, scope="row")
    return tag("td", content, class_=None if place < text_columns else "n")
