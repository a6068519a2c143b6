"""Figures as files for papers and slides: SVG, and PNG at twice the size."""

from pathlib import Path

from arena.showing.figures import figures
from arena.showing.report_contents import Report
from arena.showing.svg import in_file
from games.whole_files import whole_file, write_text

ZOOM = 2


def write_figures(report: Report, directory: Path) -> list[Path]:
    """Write every figure that draws something; the files."""
    import resvg_py  # noqa: PLC0415  # only for those who want files

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures(report).items():
        if figure.picture is None:
            continue
        drawing = in_file(figure.picture, figure.heading)
        path = directory / f"{name}.svg"
        write_text(path, drawing)
        image = path.with_suffix(".png")
        with whole_file(image) as file:
            file.write(bytes(resvg_py.svg_to_bytes(svg_string=drawing, zoom=ZOOM)))
        written += [path, image]
    return written
