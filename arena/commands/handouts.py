"""Write a page for the author of each bot: pitflip handouts results/class/2f3de8a327."""

import argparse
from pathlib import Path

from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, print_error, run, status_of
from games.base.files import write_text
from games.base.machine_paths import without_machine_paths

BOT_REPORTS = "handouts"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip handouts"),
        description="Write a page for the author of each bot of a finished run: place, scores, "
        "faults by kind, lost games to replay. None holds another bot's code or log.",
    )
    parser.add_argument("run", type=Path, help="a run's directory, results/<experiment>/<run>")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help=f"not the folder {BOT_REPORTS} of the run, but DIR"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if the directory does not hold a finished run."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip handouts", lambda: write_bot_reports(chosen.run, chosen.to))


def write_bot_reports(directory: Path, to: Path | None) -> int:
    """Write the pages; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.report.data import load_report  # noqa: PLC0415
    from arena.report.handout import AgentResults, fault_log, file_name, handout  # noqa: PLC0415
    from arena.storage.run_file import open_games_table  # noqa: PLC0415

    report = load_report(directory)
    names = report.games.names
    with open_games_table(directory):  # all games are read only now
        stored = AgentResults(report.games)
    folder = to or directory / BOT_REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    for row in report.ratings:
        agent = names.index(row.agent)
        log = without_machine_paths(fault_log(directory, names, agent), report.base)
        page = handout(report, stored, row, log)
        write_text(folder / f"{file_name(names, agent)}.md", page)
    print_error(f"{len(names)} pages in {folder}")
    return OK


if __name__ == "__main__":
    run(main)
