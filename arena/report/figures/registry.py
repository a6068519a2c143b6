"""The table of figures of a page, and their SVG and PNG files."""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name

from arena.report.data import ReportData
from arena.report.figure import Figure
from arena.report.svg import svg_file
from games.base.files import atomic_write, write_text

# name -> function(report) -> Figure, or None if the figure does not apply; in the order of the page
FIGURES: Mapping[str, str] = {
    "points": "arena.report.figures.ratings:points_figure",
    "ratings": "arena.report.figures.ratings:ratings_figure",
    "match": "arena.report.figures.match:match_figure",
    "matrix": "arena.report.figures.matrix:matrix_figure",
    "first_move": "arena.report.figures.first_move:first_move_figure",
    "openings": "arena.report.figures.openings:openings_figure",
    "margins": "arena.report.figures.margins:margins_figure",
    "losses": "arena.report.figures.move_losses:losses_figure",
    "forfeits": "arena.report.figures.forfeits:forfeits_figure",
    "thinking_time": "arena.report.figures.thinking_time:time_figure",
}
ZOOM = 2


def make_figures(report: ReportData) -> dict[str, Figure]:
    """Return all figures that apply to a report, by name."""
    figures = {name: resolve_name(function)(report) for name, function in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def write_figures(report: ReportData, directory: Path) -> list[Path]:
    """Write every figure with a picture as SVG and PNG; return the files."""
    import resvg_py  # noqa: PLC0415  # slow to load, and rarely needed

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
