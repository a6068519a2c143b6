"""The command `pitflip class`."""

import argparse
from pathlib import Path

from arena.commands.options import (
    CHANGES,
    CLUSTER,
    PAIRS,
    RESULTS_DIRECTORY,
    WORKERS,
    duration,
    whole_number,
)
from games.base.errors import OK, UserError, printable

PARENTS = (CHANGES, PAIRS, WORKERS, CLUSTER, RESULTS_DIRECTORY)
DEFAULT_PAIRS = 10
EPILOG = """\
Every file or directory in DIRECTORY is a bot, and its name is the author. Games
of two unchanged bots are kept and not played again. A changed file is a new
submission; the author of a removed file leaves.
exit status: 0 the pages are written; 2 wrong names or files; 3 not finished:
the same command continues

examples:
  pitflip class bots --out site
  pitflip class bots --out site --game othello --pairs 4 --budget 30m
  pitflip class bots --out site --watch --set move_seconds=0.5"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] DIRECTORY --out SITE"
    parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="the bots of the class")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="SITE", help="the directory of the pages"
    )
    parser.add_argument("--game", default="kalah(6,4)", help="the game (default: kalah(6,4))")
    parser.add_argument(
        "--full-up-to",
        type=whole_number(2, 1000),
        default=40,
        metavar="N",
        help="play a round robin up to this many bots, and a race above (default: 40)",
    )
    parser.add_argument(
        "--budget",
        type=duration,
        metavar="TIME",
        help="end in this time, with as many pairs of each match as fit",
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on, and play again when the directory changes"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play what is new and write the pages."""
    from arena.config.run_options import open_run_options
    from arena.pipeline.class_of_bots import ClassSettings, class_tables, play_class

    directory, site = arguments.directory, arguments.out
    if not directory.is_dir():
        raise UserError(
            f"{printable(str(directory))}: there is no such directory; put the bots into one, "
            "a file or directory for each author"
        )
    if site.exists() and not site.is_dir():
        raise UserError(f"--out {printable(str(site))}: must be a directory, and is a file")
    if site.resolve().is_relative_to(directory.resolve()):
        raise UserError(f"--out {printable(str(site))}: the pages cannot be among the bots")
    tables = class_tables(directory, arguments.game, arguments.pairs or DEFAULT_PAIRS)
    settings = ClassSettings(
        directory, site, tables, tuple(arguments.changes), arguments.full_up_to, arguments.watch
    )
    with open_run_options(
        arguments.interrupts,
        results=arguments.results,
        workers=arguments.workers,
        cluster=arguments.cluster,
        cache="off",
        budget=arguments.budget,
    ) as options:
        play_class(settings, options)
    arguments.interrupts.finish()
    return OK
