"""The command `pitflip report`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from games.base.errors import OK, UserError, print_error, printable
from games.base.files import write_text
from games.base.text import without_machine_paths

if TYPE_CHECKING:
    from arena.report.data import ReportData

BOT_REPORTS = "bot-reports"
EPILOG = """\
A bot report has the place, scores, faults and lost games of one bot. It can be
given to its author: it shows neither code nor logs of other bots.
exit status: 0 written; 2 a directory does not hold a finished run

examples:
  pitflip report results/smart_vs_bad/*
  pitflip report results/class/2f3de8a327 --bots --out bot-reports"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="the directory of a finished run"
    )
    parser.add_argument(
        "--bots", action="store_true", help=f"write a report on each bot to {BOT_REPORTS}/"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="output directory (default: the directory of the run)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the pages."""
    for directory in arguments.runs:
        out = arguments.out or directory
        if arguments.out and len(arguments.runs) > 1:
            out /= directory.resolve().name
        out.mkdir(parents=True, exist_ok=True)
        write_report(directory, out, arguments)
    return OK


def write_report(directory: Path, out: Path, arguments: argparse.Namespace) -> None:
    """Write the page of one run, with bot reports on request."""
    from arena.learning.learn_page import is_learn_run, learn_page
    from arena.report.data import load_report
    from arena.report.page import PAGE, write_page
    from arena.storage.parquet import TableError
    from arena.storage.run_file import renew_checksums

    path = out / PAGE
    if is_learn_run(directory):
        if arguments.bots:
            raise UserError(f"{directory} is a run of pitflip learn, which has only a page")
        write_text(path, learn_page(directory))
        print_error(f"page: {printable(str(path))}")
        return
    report = load_report(directory)
    try:
        write_page(report, path)
    except TableError as error:  # some tables are read only here
        raise UserError(f"{directory}: a table cannot be read: {error}") from None
    if out.resolve() == directory.resolve():
        renew_checksums(directory, {PAGE})
    print_error(f"page: {printable(str(path))}")
    if arguments.bots:
        write_bot_reports(report, directory, out / BOT_REPORTS)


def write_bot_reports(report: "ReportData", directory: Path, out: Path) -> None:
    """Write a report on each bot of a run."""
    from arena.report.bot_reports import AgentResults, bot_report, fault_log, file_name
    from arena.storage.run_file import open_games_table

    names = report.games.names
    with open_games_table(directory):  # reads all games
        stored = AgentResults(report.games)
    out.mkdir(parents=True, exist_ok=True)
    for row in report.ratings:
        agent = names.index(row.agent)
        log = without_machine_paths(fault_log(directory, names, agent), report.experiment_directory)
        page = bot_report(report, stored, row, log)
        write_text(out / f"{file_name(names, agent)}.html", page)
    print_error(f"{len(names)} bot reports: {printable(str(out))}")
