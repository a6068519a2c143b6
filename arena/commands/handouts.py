"""Write a page for the author of each bot: pitflip handouts results/class/2f3de8a327."""

import argparse
from pathlib import Path

from games.base.cli import CommandParser, here
from games.base.errors import DONE, run, say, status_of
from games.base.files import write_text
from games.base.machine_paths import without_machine_paths

FOLDER = "handouts"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip handouts"),
        description="Write a page for the author of each bot of a finished run: place, scores, "
        "faults by kind, lost games to replay. None holds another bot's code or log.",
    )
    parser.add_argument("run", type=Path, help="a run's directory, results/<experiment>/<run>")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help=f"not the folder {FOLDER} of the run, but DIR"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if the directory does not hold a finished run."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip handouts", lambda: handed_out(chosen.run, chosen.to))


def handed_out(directory: Path, to: Path | None) -> int:
    """Write the pages; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.report.data import stored_report  # noqa: PLC0415
    from arena.report.handout import Stored, file_name, handout, log_of  # noqa: PLC0415
    from arena.storage.run_file import stored_table  # noqa: PLC0415

    report = stored_report(directory)
    names = report.games.names
    with stored_table(directory):  # all games are read only now
        stored = Stored(report.games)
    folder = to or directory / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for row in report.ratings:
        agent = names.index(row.agent)
        log = without_machine_paths(log_of(directory, names, agent), report.base)
        page = handout(report, stored, row, log)
        write_text(folder / f"{file_name(names, agent)}.md", page)
    say(f"{len(names)} pages in {folder}")
    return DONE


if __name__ == "__main__":
    run(main)
