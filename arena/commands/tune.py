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
from games.base.errors import CHECK_FAILED, OK

PARENTS = (EXPERIMENT, CHANGES, *PLAY, DRY_RUN)
EPILOG = """\
examples:
  pitflip tune experiments/tune_kalah.toml --budget 1m
  pitflip tune experiments/tune_kalah.toml --dry-run
exit status: 0 finished, whatever the verdict; 2 the file is wrong; 3 not
finished: the games are stored, and the same command continues"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "--budget", type=duration, metavar="TIME", help="play as many games as fit into this time"
    )


def run(arguments: argparse.Namespace) -> int:
    """Tune, or forecast the study."""
    from arena.tuning.study_config import load_study  # noqa: PLC0415  # not needed for --help

    study = load_study(arguments.experiment, overrides(arguments))
    if arguments.dry_run:
        refuse_with_dry_run(arguments)
        from arena.pipeline.forecast import forecast_study  # noqa: PLC0415

        with run_options(arguments) as options:
            works = forecast_study(study, options, lambda line: print(line, flush=True))
        return OK if works else CHECK_FAILED
    from arena.tuning.study import tune  # noqa: PLC0415

    with run_options(arguments) as options:
        tune(study, options)
    return OK
