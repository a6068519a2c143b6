"""The page of a sweep: its verdict, its figure, a row for every cell."""

from collections.abc import Sequence

from arena.concluding.sweep_rows import CellRow
from arena.showing import page
from arena.showing.sweep_figure import HEAD, LONGEST, cell_texts, slope_lines
from games.terminal import printable


def sweep_page(
    title: str, names: Sequence[str], rows: Sequence[CellRow], verdict: Sequence[str], picture: str
) -> str:
    """The whole page; the first line of the verdict is the answer."""
    answer, *more = verdict
    head = [*(printable(name, LONGEST) for name in names), *HEAD, "", "run"]
    cells = [
        [
            *(printable(str(value), LONGEST) for value in row.values),
            *cell_texts(row),
            row.run,
        ]
        for row in rows
    ]
    return page.page(
        title,
        [
            page.paragraph(answer, "verdict"),
            *map(page.paragraph, [*more, *slope_lines(names, rows)]),
            picture,
            page.heading("Every cell"),
            page.table(head, cells),
            page.paragraph("A cell is a run of its own: arena.report writes its page."),
        ],
    )
