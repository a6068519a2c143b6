"""The command `pitflip export`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import RUN
from games.base.errors import OK, UserError, print_error, printable
from games.base.files import write_text

if TYPE_CHECKING:
    from arena.report.data import ReportData

PARENTS = (RUN,)
EXPORT_DIRECTORY = "export"
EPILOG = """\
exit status: 0 written; 2 a format is unknown or not for the game of the run

examples:
  pitflip export results/heuristics/2f3de8a327 --games ggf --tables latex
  pitflip export results/heuristics/2f3de8a327 --methods
  pitflip export results/heuristics/2f3de8a327 --figures pdf --width 84mm"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "--games",
        action="append",
        default=[],
        metavar="FORMAT",
        help="pgn, ggf (only Othello), csv (one line per game) or json (one object per line)",
    )
    parser.add_argument(
        "--tables",
        action="append",
        default=[],
        metavar="FORMAT",
        help="csv (every column), markdown or latex (as on the page)",
    )
    parser.add_argument(
        "--figures",
        action="append",
        default=[],
        metavar="FORMAT",
        help="svg, png (300 dots per inch) or pdf (needs the package typst)",
    )
    parser.add_argument(
        "--width", default="", metavar="LENGTH", help="of figures, such as 84mm (default: 180mm)"
    )
    parser.add_argument(
        "--font", default="", metavar="NAME", help="of figures (default: sans-serif)"
    )
    parser.add_argument(
        "--font-size", type=float, metavar="PT", help="of figures, in points (default: 9)"
    )
    parser.add_argument(
        "--methods",
        action="store_true",
        help="a paragraph for a paper: how the games were played and rated, with sources",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"output directory (default: {EXPORT_DIRECTORY} in the directory of the run)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files."""
    from arena.formats import export, registry
    from arena.report.data import load_report
    from arena.report.figures.registry import write_figures
    from arena.report.svg import file_style
    from arena.storage.parquet import TableError

    if not (arguments.games or arguments.tables or arguments.figures or arguments.methods):
        raise UserError(
            "nothing to write: add --games FORMAT, --tables FORMAT, --figures FORMAT or --methods"
        )
    for what in registry.WRITERS:
        registry.check_format_names(getattr(arguments, what), what)
    style = file_style(arguments.width, arguments.font, arguments.font_size)
    report = load_report(arguments.run)
    directory = arguments.out or arguments.run / EXPORT_DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    try:
        paths = [export.write_games(report, name, directory) for name in arguments.games]
    except TableError as error:  # the moves are read only here
        raise UserError(f"{arguments.run}: a table cannot be read: {error}") from None
    for name in arguments.tables:
        paths += export.write_tables(report, name, directory)
    paths += write_figures(report, arguments.figures, directory, style)
    if arguments.methods:
        paths.append(write_methods(report, directory))
    for path in paths:
        print_error(f"written: {printable(str(path))}")
    return OK


def write_methods(report: "ReportData", directory: Path) -> Path:
    """Write and print the paragraph about methods; return its path."""
    from arena.report.methods import methods_paragraph

    text, path = methods_paragraph(report), directory / "methods.md"
    write_text(path, f"{text}\n")
    print(printable(text, len(text)), flush=True)
    return path
