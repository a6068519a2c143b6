"""The command `pitflip tune`."""

import argparse

from arena.commands.options import (
    CHANGES,
    DRY_RUN,
    EXPERIMENT,
    PLAY,
    duration,
    overrides,
    refuse_with_dry_run,
    run_options,
)
from arena.commands.run import print_text
from games.base.errors import CHECK_FAILED, OK

PARENTS = (EXPERIMENT, CHANGES, *PLAY, DRY_RUN)
EPILOG = """\
exit status: 0 finished, whatever the verdict; 2 the file is wrong; 3 not
finished: the games are stored, and the same command continues

examples:
  pitflip tune experiments/tune_kalah.toml --budget 1m
  pitflip tune experiments/tune_kalah.toml --dry-run"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "--budget",
        type=duration,
        metavar="TIME",
        help="play as many games as fit into this time (default: the games of the file)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Tune, or forecast the study."""
    from arena.tuning.study_config import load_study

    study = load_study(arguments.experiment, overrides(arguments))
    if arguments.dry_run:
        refuse_with_dry_run(arguments)
        from arena.pipeline.forecast import forecast_study

        with run_options(arguments) as options:
            works = forecast_study(study, options, print_text)
        return OK if works else CHECK_FAILED
    from arena.tuning.study import tune

    with run_options(arguments) as options:
        tune(study, options)
    return OK
