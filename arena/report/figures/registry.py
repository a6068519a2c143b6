"""The table of figures of a page, and their SVG, PNG and PDF files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name

from arena.report.data import ReportData
from arena.report.figure import Figure
from arena.report.svg import FileStyle, svg_file
from games.base.errors import UserError
from games.base.files import atomic_write
from games.base.text import join_names, quote

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
# name of a format -> function(text of an SVG file) -> the bytes of a file
FIGURE_FORMATS: Mapping[str, str] = {
    "svg": "arena.report.figures.registry:svg_bytes",
    "png": "arena.report.figures.registry:png_bytes",
    "pdf": "arena.report.figures.registry:pdf_bytes",
}
DPI, ZOOM = 96, 300 / 96  # CSS pixels per inch, and 300 dots per inch
PDF_PAGE = b"""\
#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.drawing), format: "svg")
"""


def make_figures(report: ReportData) -> dict[str, Figure]:
    """Return all figures that apply to a report, by name."""
    figures = {name: resolve_name(function)(report) for name, function in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def write_figures(
    report: ReportData, formats: Sequence[str], directory: Path, style: FileStyle
) -> list[Path]:
    """Write every figure with a picture in these formats; return the files."""
    written = []
    for name, figure in make_figures(report).items():
        if figure.picture is not None:
            drawing = svg_file(figure.picture, figure.heading, style)
            written += [write_figure(drawing, directory / f"{name}.{each}") for each in formats]
    return written


def write_figure(drawing: str, path: Path) -> Path:
    """Write the text of an SVG file in the format of a path's suffix."""
    name = path.suffix.removeprefix(".").lower()
    if name not in FIGURE_FORMATS:
        endings = join_names([f".{each}" for each in FIGURE_FORMATS])
        raise UserError(
            f"a figure is written to a file ending in {endings}, got {quote(path.name)}"
        )
    content = resolve_name(FIGURE_FORMATS[name])(drawing)
    with atomic_write(path) as file:
        file.write(content)
    return path


def svg_bytes(drawing: str) -> bytes:
    """Return a drawing as an SVG file."""
    return drawing.encode()


def png_bytes(drawing: str) -> bytes:
    """Return a drawing as a PNG file."""
    import resvg_py  # noqa: PLC0415  # slow to load, and rarely needed

    return bytes(resvg_py.svg_to_bytes(svg_string=drawing, dpi=DPI, zoom=ZOOM))


def pdf_bytes(drawing: str) -> bytes:
    """Return a drawing as a PDF file with embedded fonts.

    Typst reads SVG with the library of resvg_py, so PDF and PNG look the same. It needs no library
    of the system, but has 34 MB and is optional.
    """
    try:
        import typst  # noqa: PLC0415  # optional
    except ImportError:
        raise UserError(
            'PDF needs the package typst: install it with pip install "pitflip[pdf]"'
        ) from None
    return typst.compile(PDF_PAGE, format="pdf", sys_inputs={"drawing": drawing})
