"""Write a run for other programs: python -m arena.export RUN --games pgn --tables csv."""

import argparse
import sys
from pathlib import Path

from games.shell_commands import here
from games.terminal import DONE, Mistake, say, status_of

FOLDER = "export"


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=here("python -m arena.export"),
        description="Write the games and tables of a finished run in formats of other programs.",
        epilog="example: python -m arena.export results/othello_heuristics/2f3de8a327 --games ggf "
        "--tables latex",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument(
        "--games", action="append", default=[], metavar="FORMAT",
        help="pgn, ggf (Othello) or json (an object a line)",
    )  # fmt: skip
    parser.add_argument(
        "--tables", action="append", default=[], metavar="FORMAT",
        help="csv (every column), markdown or latex (as on the page)",
    )  # fmt: skip
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help=f"where to (the folder {FOLDER} of the run)"
    )
    parser.add_argument(
        "--experiment", type=Path, metavar="FILE",
        help="where users' files are found, if the experiment file has moved",
    )  # fmt: skip
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a format is unknown or cannot hold the run."""
    chosen = arguments().parse_args(words)
    return status_of("arena.export", lambda: exported(chosen))


def exported(chosen: argparse.Namespace) -> int:
    """Write the files; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.showing import export_files  # noqa: PLC0415
    from arena.showing.report_contents import stored_report  # noqa: PLC0415

    if not chosen.games and not chosen.tables:
        raise Mistake("nothing to write: ask for --games FORMAT, --tables FORMAT or both")
    export_files.checked(chosen.games, "games")
    export_files.checked(chosen.tables, "tables")
    beside = chosen.experiment and chosen.experiment.absolute().parent
    report = stored_report(chosen.run, beside)
    directory = chosen.to or chosen.run / FOLDER
    directory.mkdir(parents=True, exist_ok=True)
    paths = [export_files.write_games(report, name, directory) for name in chosen.games]
    for name in chosen.tables:
        paths += export_files.write_tables(report, name, directory)
    for path in paths:
        say(f"written: {path}")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
