"""The command `pitflip judge`."""

import argparse

from arena.commands.options import (
    CLUSTER,
    DATABASE_BEANS,
    JSON,
    QUIET,
    RUN,
    WORKERS,
    duration,
    nodes,
    whole_number,
)
from arena.config.command_line import number_of_workers, with_cluster
from games.base.errors import OK

PARENTS = (RUN, DATABASE_BEANS, WORKERS, CLUSTER, QUIET, JSON)
EPILOG = """\
example:
  pitflip judge results/smart_vs_bad/1a2b3c --last-beans 36
Each stored move is compared with the best one under perfect play of both
sides. The result is moves.parquet in the directory of the run, and a table
with a row for each agent.
exit status: 0 done; 2 the run cannot be judged; 3 not finished: what was
judged is stored, and the same command continues"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.add_argument(
        "--last-beans",
        "--last-squares",
        dest="last",
        type=whole_number(0, 1024),
        metavar="N",
        help="judge moves with at most N beans in play or N empty squares "
        "(default: 32 in Kalah, 13 in Othello)",
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        metavar="TIME",
        help="go on to earlier moves, step by step, during this time",
    )
    parser.add_argument(
        "--nodes",
        type=nodes,
        metavar="N",
        help="leave a position open after searching N positions (default: 100000000)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge the moves, write the table and print it."""
    from arena.analysis.move_losses.judge import JudgeSettings  # noqa: PLC0415
    from arena.analysis.move_losses.run_lines import load_run_lines  # noqa: PLC0415
    from arena.pipeline.move_loss_files import judge_and_write  # noqa: PLC0415
    from arena.playing.options import PlayOptions  # noqa: PLC0415

    settings = JudgeSettings(
        arguments.last, arguments.seconds, arguments.nodes, arguments.database_beans
    )
    lines = load_run_lines(arguments.run)
    here = PlayOptions(number_of_workers(arguments.workers), arguments.interrupts)
    with with_cluster(here, arguments.cluster) as options:
        judge_and_write(lines, settings, options, quiet=arguments.quiet, json=arguments.json)
        arguments.interrupts.finish()
    return OK
