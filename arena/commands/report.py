"""Write the page, figures and bot reports of a run."""

import argparse
import sys
from pathlib import Path

from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_error, printable, status_of
from games.base.files import write_text


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip report"),
        description="Write report.html of finished runs again, from their tables.",
        epilog="example: pitflip report results/smart_vs_bad/*",
    )
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="a run's directory",
    )
    parser.add_argument(
        "--experiment", type=Path, metavar="FILE",
        help="where users' files are found, if the experiment file has moved",
    )  # fmt: skip
    parser.add_argument(
        "--figures", type=Path, metavar="DIR", help="write the figures to DIR as SVG and PNG too"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a directory does not hold a finished run."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip report", lambda: reported(chosen))


def reported(chosen: argparse.Namespace) -> int:
    """Write the pages; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.learning.learn_page import is_learn_run, learn_page  # noqa: PLC0415
    from arena.report.data import load_report  # noqa: PLC0415
    from arena.report.figures.registry import write_figures  # noqa: PLC0415
    from arena.report.page import PAGE, write_page  # noqa: PLC0415
    from arena.storage.parquet import TableError  # noqa: PLC0415

    beside = chosen.experiment and chosen.experiment.absolute().parent
    for directory in chosen.runs:
        path = directory / PAGE
        if is_learn_run(directory):
            write_text(path, learn_page(directory))
            print_error(f"page: {printable(str(path))}")
            continue
        report = load_report(directory, beside)
        try:
            write_page(report, path)
        except TableError as error:  # of a part that is read only now
            raise UserError(f"{directory}: a table cannot be read: {error}") from None
        print_error(f"page: {printable(str(path))}")
        if chosen.figures is not None:
            # Of several runs each has a folder of its own.
            own = directory.resolve().name if len(chosen.runs) > 1 else ""
            write_figures(report, chosen.figures / own)
    return OK


if __name__ == "__main__":
    sys.exit(main())
