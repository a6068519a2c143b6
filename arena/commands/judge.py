"""Measure move losses against perfect play."""

import argparse
import sys
from pathlib import Path

from arena.config.command_line import add_workers, number_of, same_command, with_cluster
from arena.config.user_settings import is_address
from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, status_of
from games.base.text import parse_positive, parse_whole_number

LAST = range(1025)
DATABASE_BEANS = range(31)
MOST_NODES = range(1, 1 << 40)
EXAMPLE = """\
example:
  pitflip judge results/smart_vs_bad/1a2b3c --last-beans 36
exit status: 0 done, 2 the run cannot be judged, 3 stopped (what was judged is kept; the
same command continues)"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip judge"),
        description="What every stored move lost against the best one, under perfect play of both "
        "sides: moves.parquet in the run's directory, and a table an agent.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, help="a run's directory, results/<experiment>/<run>")
    parser.add_argument(
        "--last-beans", "--last-squares", dest="last", metavar="N",
        help="judge from N beans in play, or N empty squares, on (32 in kalah, 13 in Othello)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", metavar="S", help="go on farther back, step by step, for so long"
    )
    parser.add_argument(
        "--nodes", metavar="N", help="positions after which a question stays open (100000000)"
    )
    parser.add_argument(
        "--database-beans", metavar="N", help="beans of the endgame database (18 in kalah(6,4))"
    )
    add_workers(parser)
    parser.add_argument(
        "--on", type=is_address, metavar="ADDRESS", help="judge on a Dask cluster, as arena.run"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but the answer")
    parser.add_argument("--json", action="store_true", help="print the answer as one JSON object")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 3 if it was stopped."""
    chosen, interrupts = arguments().parse_args(words), Interrupts()
    again = same_command("pitflip judge", words)
    with interrupts.installed():
        return status_of("pitflip judge", lambda: judged(chosen, interrupts), again)


def judged(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Judge, write and print; the exit status."""
    # After --help, which needs none of it.
    from arena.analysis.move_losses.judge import JudgeSettings  # noqa: PLC0415
    from arena.analysis.move_losses.run_lines import load_run_lines  # noqa: PLC0415
    from arena.pipeline.move_loss_files import judge_and_write  # noqa: PLC0415
    from arena.playing.options import PlayOptions  # noqa: PLC0415

    settings = JudgeSettings(
        number(chosen.last, "--last-beans", LAST),
        None if chosen.seconds is None else parse_positive("--seconds", chosen.seconds),
        number(chosen.nodes, "--nodes", MOST_NODES),
        number(chosen.database_beans, "--database-beans", DATABASE_BEANS),
    )
    run = load_run_lines(chosen.run)
    one = PlayOptions(number_of(chosen.workers), interrupts)
    with with_cluster(one, chosen.on) as options:
        judge_and_write(run, settings, options, quiet=chosen.quiet, json=chosen.json)
        interrupts.finish()
    return OK


def number(text: str | None, name: str, allowed: range) -> int | None:
    """A whole number of the command line, if it is there."""
    return None if text is None else parse_whole_number("pitflip judge", name, text, allowed)


if __name__ == "__main__":
    sys.exit(main())
