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
    overrides,
    refuse_with_dry_run,
    run_options,
)
from games.base.errors import CHECK_FAILED, OK

if TYPE_CHECKING:
    from arena.config.experiment import Experiment
    from arena.config.sweep import SweepPlan

PARENTS = (EXPERIMENT, CHANGES, *PLAY, PAIRS, DRY_RUN)
EPILOG = """\
examples:
  pitflip run experiments/smart_vs_bad.toml --set agents.smart.depth=6
  pitflip run experiments/kalah_ladder.toml --pairs 10 --dry-run
exit status: 0 all checks hold; 1 a check failed; 2 the file is wrong; 3 not
finished: the games are stored, and the same command continues"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the checks as JUnit XML")
    parser.add_argument("--no-page", action="store_false", dest="page", help="no report.html")
    parser.add_argument("--live", action="store_true", help="show a live page in the browser")
    parser.add_argument(
        "--no-pinning",
        action="store_false",
        dest="pinned",
        help="let workers and their bots move between cores",
    )
    parser.add_argument("--pair", type=int, metavar="N", help="play only pair N, in this process")


def run(arguments: argparse.Namespace) -> int:
    """Play or forecast the experiment; the status says whether all checks hold."""
    from arena.config.experiment import load  # noqa: PLC0415  # not needed for --help
    from arena.config.sweep import load_experiment_or_sweep  # noqa: PLC0415

    changes = overrides(arguments)
    if arguments.pair is not None:
        experiment = load(arguments.experiment, changes)
        from arena.pipeline.run import play_one_pair  # noqa: PLC0415

        with run_options(arguments) as options:
            play_one_pair(experiment, arguments.pair, options)
        return OK
    return run_or_forecast(load_experiment_or_sweep(arguments.experiment, changes), arguments)


def run_or_forecast(experiment: "Experiment | SweepPlan", arguments: argparse.Namespace) -> int:
    """Play the experiment or sweep, or with --dry-run print its forecast."""
    from arena.config.sweep import SweepPlan  # noqa: PLC0415  # not needed for --help

    if arguments.dry_run:
        refuse_with_dry_run(arguments)
        from arena.pipeline.forecast import forecast  # noqa: PLC0415

        with run_options(arguments) as options:
            works = forecast(experiment, options, lambda line: print(line, flush=True))
        return OK if works else CHECK_FAILED
    with run_options(arguments) as options:
        if isinstance(experiment, SweepPlan):
            from arena.pipeline.sweep import sweep  # noqa: PLC0415

            return OK if sweep(experiment, options) else CHECK_FAILED
        from arena.pipeline.run import run as run_experiment  # noqa: PLC0415

        return OK if run_experiment(experiment, options) else CHECK_FAILED
