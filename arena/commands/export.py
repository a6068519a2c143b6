"""Write a run in other formats."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_error, printable, status_of
from games.base.files import write_text

if TYPE_CHECKING:
    from arena.report.data import ReportData

if TYPE_CHECKING:  # it loads the compiler
    pass

EXPORT_DIRECTORY = "export"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip export"),
        description="Write the games and tables of a finished run in formats of other programs.",
        epilog="example: pitflip export results/othello_heuristics/2f3de8a327 --games ggf "
        "--tables latex",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument(
        "--games", action="append", default=[], metavar="FORMAT",
        help="pgn, ggf (Othello), csv (a line a game) or json (an object a line)",
    )  # fmt: skip
    parser.add_argument(
        "--tables", action="append", default=[], metavar="FORMAT",
        help="csv (every column), markdown or latex (as on the page)",
    )  # fmt: skip
    parser.add_argument(
        "--methods", action="store_true",
        help="the paragraph that a paper needs: how it was played and estimated, with sources",
    )  # fmt: skip
    parser.add_argument(
        "--to",
        type=Path,
        metavar="DIR",
        help=f"where to (the folder {EXPORT_DIRECTORY} of the run)",
    )
    parser.add_argument(
        "--experiment", type=Path, metavar="FILE",
        help="where users' files are found, if the experiment file has moved",
    )  # fmt: skip
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a format is unknown or cannot hold the run."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip export", lambda: exported(chosen))


def exported(chosen: argparse.Namespace) -> int:
    """Write the files; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.formats import registry  # noqa: PLC0415
    from arena.report.data import load_report  # noqa: PLC0415
    from arena.storage.parquet import TableError  # noqa: PLC0415

    if not (chosen.games or chosen.tables or chosen.methods):
        raise UserError("nothing to write: ask for --games FORMAT, --tables FORMAT or --methods")
    registry.check_format_names(chosen.games, "games")
    registry.check_format_names(chosen.tables, "tables")
    beside = chosen.experiment and chosen.experiment.absolute().parent
    report = load_report(chosen.run, beside)
    directory = chosen.to or chosen.run / EXPORT_DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    try:
        paths = [registry.write_games(report, name, directory) for name in chosen.games]
    except TableError as error:  # the moves are read only now
        raise UserError(f"{chosen.run}: a table cannot be read: {error}") from None
    for name in chosen.tables:
        paths += registry.write_tables(report, name, directory)
    if chosen.methods:
        paths.append(write_methods(report, directory))
    for path in paths:
        print_error(f"written: {printable(str(path))}")
    return OK


def write_methods(report: "ReportData", directory: Path) -> Path:
    """Write the paragraph about methods, and print it; its path."""
    from arena.report.methods import methods_paragraph  # noqa: PLC0415  # as above

    text, path = methods_paragraph(report), directory / "methods.md"
    write_text(path, f"{text}\n")
    print(printable(text, len(text)), flush=True)
    return path


if __name__ == "__main__":
    sys.exit(main())
