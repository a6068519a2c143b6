"""The command `pitflip judge`."""

import argparse
import logging

from arena.commands.options import (
    CLUSTER,
    JSON,
    QUIET,
    RUN,
    WORKERS,
    duration,
    nodes,
    whole_number,
)
from arena.config.run_options import number_of_workers, with_cluster
from arena.playing.options import PlayOptions
from games.base.errors import OK, print_error, print_safely
from games.base.files import remove_partial_files
from games.base.progress import ProgressLine

log = logging.getLogger(__name__)
PARENTS = (RUN, WORKERS, CLUSTER, QUIET, JSON)
EPILOG = """\
Each stored move is compared with the best move under perfect play. The command
writes moves.parquet into the directory of the run and prints a table with a row
for each agent.
exit status: 0 done; 2 the run cannot be judged; 3 not finished: results are
stored, and the same command continues

example:
  pitflip judge results/smart_vs_bad/1a2b3c --last-beans 36"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
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
        help="then judge earlier moves, too, for at most this time",
    )
    parser.add_argument(
        "--nodes",
        type=nodes,
        metavar="N",
        help="give up on a move after searching N positions (default: 100,000,000)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write and print the move losses of a run."""
    from arena.analysis.move_losses.judge import JudgeSettings, judge_run
    from arena.analysis.move_losses.losses import MOVES
    from arena.analysis.move_losses.run_lines import load_run_lines
    from arena.terminal.move_losses import print_move_losses, write_judgement
    from arena.terminal.tables import stdout_console

    settings = JudgeSettings(arguments.last, arguments.seconds, arguments.nodes)
    run, quiet = load_run_lines(arguments.run), arguments.quiet or arguments.json
    local = PlayOptions(number_of_workers(arguments.workers), arguments.interrupts)
    with with_cluster(local, arguments.cluster) as options, ProgressLine(quiet) as line:
        notify = log.info if quiet else line.print_line
        judgement = judge_run(run, settings, options, line.show, notify)
    remove_partial_files(run.directory)
    losses, text = write_judgement(judgement)
    arguments.interrupts.finish()
    if arguments.json:
        print_safely(lambda: print(text))
    else:
        print_safely(lambda: print_move_losses(judgement, losses, stdout_console()))
    if not quiet:
        print_error(f"moves: {run.directory / MOVES}")
    return OK
