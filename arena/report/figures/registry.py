"""Figures of a report, each a module with `figure(report)`: its picture, its numbers, its words."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from arena.report.data import ReportData
from arena.report.figure import Figure
from arena.report.svg import svg_file
from games.base.files import atomic_write, write_text

# name -> module, in the order of the page
FIGURES: Mapping[str, str] = {
    "points": "arena.report.figures.points_standings",
    "ratings": "arena.report.figures.ratings",
    "match": "arena.report.figures.match",
    "matrix": "arena.report.figures.matrix",
    "first_move": "arena.report.figures.first_move",
    "openings": "arena.report.figures.openings",
    "margins": "arena.report.figures.margins",
    "losses": "arena.report.figures.move_losses",
    "forfeits": "arena.report.figures.forfeits",
    "thinking_time": "arena.report.figures.thinking_time",
}
ZOOM = 2


class FigureMaker(Protocol):
    """What the module of a figure defines."""

    def figure(self, report: ReportData) -> Figure | None:
        """The figure; None if it says nothing about such a run."""


def make_figures(report: ReportData) -> dict[str, Figure]:
    """All figures of a report, by name, in the order of the page."""
    made = {
        name: cast(FigureMaker, importlib.import_module(module)).figure(report)
        for name, module in FIGURES.items()
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def write_figures(report: ReportData, directory: Path) -> list[Path]:
    """Write every figure that draws something; the files."""
    import resvg_py  # noqa: PLC0415  # only for those who want files

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in make_figures(report).items():
        if figure.picture is None:
            continue
        drawing = svg_file(figure.picture, figure.heading)
        path = directory / f"{name}.svg"
        write_text(path, drawing)
        image = path.with_suffix(".png")
        with atomic_write(image) as file:
            file.write(bytes(resvg_py.svg_to_bytes(svg_string=drawing, zoom=ZOOM)))
        written += [path, image]
    return written
