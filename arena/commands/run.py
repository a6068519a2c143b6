"""The command `pitflip run`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import (
    CHANGES,
    DRY_RUN,
    EXPERIMENT,
    PAIRS,
    PLAY,
    SHOW_OUTPUT,
    WIDTH,
    overrides,
    refuse_with_dry_run,
    run_options,
)
from games.base.errors import (
    CHECK_FAILED,
    OK,
    print_error,
    print_lines,
    print_safely,
    printable,
)
from games.base.text import join_names

if TYPE_CHECKING:
    from arena.config.experiment import Experiment
    from arena.config.run_options import RunOptions
    from arena.config.sweep import SweepPlan
    from arena.pipeline.run import RunResult
    from arena.pipeline.sweep import SweepResult

PARENTS = (EXPERIMENT, CHANGES, *PLAY, PAIRS, WIDTH, SHOW_OUTPUT, DRY_RUN)
EPILOG = """\
exit status: 0 all checks hold; 1 a check failed; 2 the file is wrong; 3 not
finished: the games are stored, and the same command continues

examples:
  pitflip run experiments/smart_vs_bad.toml --set agents.smart.depth=6
  pitflip run experiments/kalah_ladder.toml --pairs 10 --dry-run"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="also write the checks as JUnit XML"
    )
    parser.add_argument(
        "--no-page", action="store_false", dest="page", help="do not write report.html"
    )
    parser.add_argument("--live", action="store_true", help="show a live page in the browser")
    parser.add_argument(
        "--no-pinning",
        action="store_false",
        dest="pinned",
        help="do not bind workers and their bots to cores",
    )
    parser.add_argument(
        "--pair", type=int, metavar="N", help="play only pair N, counted from 0, in this process"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play or forecast the experiment; the status says whether all checks hold."""
    from arena.config.experiment import load_experiment
    from arena.config.sweep import load_experiment_or_sweep

    changes = overrides(arguments)
    if arguments.pair is None:
        return play_or_forecast(load_experiment_or_sweep(arguments.experiment, changes), arguments)
    experiment = load_experiment(arguments.experiment, changes)
    from arena.pipeline.run import replay_pair

    with run_options(arguments) as options:
        lines = replay_pair(experiment, arguments.pair, options)
    print("\n".join(lines), flush=True)
    return OK


def play_or_forecast(experiment: "Experiment | SweepPlan", arguments: argparse.Namespace) -> int:
    """Play the experiment or sweep, or with --dry-run print its forecast."""
    from arena.config.sweep import SweepPlan

    if arguments.dry_run:
        refuse_with_dry_run(arguments)
        from arena.pipeline.forecast import forecast

        with run_options(arguments) as options:
            works = forecast(experiment, options, print_text)
        return OK if works else CHECK_FAILED
    with run_options(arguments) as options:
        result: RunResult | SweepResult
        if isinstance(experiment, SweepPlan):
            from arena.pipeline.sweep import run_sweep

            result = run_sweep(experiment, options)
            options.interrupts.finish()
            print_sweep(result, options)
        else:
            from arena.pipeline.run import run_experiment

            result = run_experiment(experiment, options)
            options.interrupts.finish()
            print_run(result, options)
    return OK if result.checks_hold else CHECK_FAILED


def print_text(text: str) -> None:
    """Print one or several lines of a forecast."""
    print_lines(*text.split("\n"))


def print_run(result: "RunResult", options: "RunOptions") -> None:
    """Print the results of a run, and last its headline, its page and the next step."""
    from arena.report.answer import answer_line
    from arena.terminal.tables import print_summary, summary_json

    repeats, excluded = result.repeatability, result.summary.excluded
    if options.json:
        print_safely(lambda: print(summary_json(result.summary, result.verdicts)))
    else:
        notes = [] if repeats.is_certain else [f"can be repeated: {repeats.text}"]
        timings = result.report.timings
        print_safely(lambda: print_summary(result.summary, result.verdicts, notes, timings=timings))
    if options.quiet:
        for each in excluded:
            print_error(each.line)
    elif excluded:
        print_error(f"excluded: {join_names([each.agent for each in excluded])}")
    print_end(result, options, "" if options.json else answer_line(result.report))


def print_end(result: "RunResult", options: "RunOptions", headline: str) -> None:
    """Print the last lines of a command: tables, headline, page and next step."""
    if not options.quiet:
        print_tables(result)
    if headline:
        lines = filter(None, [result.move_losses, headline])
        print_safely(lambda: print(*map(printable, lines), sep="\n", flush=True))
    if not options.quiet:
        if result.page is not None:
            print_error(f"page: {result.page}")
        print_error(result.next_step)


def print_sweep(result: "SweepResult", options: "RunOptions") -> None:
    """Print the table of a sweep and the paths of its files."""
    text = result.json if options.json else "\n".join(result.lines)
    print_safely(lambda: print(text))
    if not options.quiet:
        print_places(result)


def print_places(result: "RunResult | SweepResult") -> None:
    """Print the paths of the tables and of the page."""
    print_tables(result)
    if result.page is not None:
        print_error(f"page: {result.page}")


def print_tables(result: "RunResult | SweepResult") -> None:
    """Print the paths of the tables and of what bots have printed."""
    from arena.storage.run_log import BOT_OUTPUT

    print_error(f"tables: {result.directory}")
    if (output := result.directory / BOT_OUTPUT).is_file():
        print_error(f"output of the bots: {output}")
