"""Tune weights."""

import argparse
import sys

import arena.tuning  # noqa: F401  # before numpy: it keeps numpy to one thread
from arena.config.command_line import add_play_options, open_run_options, overrides, run_resumable
from arena.playing.options import Interrupts
from games.base.errors import OK

EXAMPLE = """\
example:
  pitflip tune experiments/tune_kalah.toml --budget 1m
exit status: 0 finished, whatever the verdict, 2 the file is wrong,
  3 not finished (what was played is kept; the same command continues)"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "Tune the weights of an agent by playing games; the answer is validated."
    parser = add_play_options("pitflip tune", what, EXAMPLE)
    parser.add_argument(
        "--budget", type=budget, metavar="TIME", help="play what fits into 90s, 1m, 0.5h"
    )
    return parser


def budget(text: str) -> float:
    """A time in seconds."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    try:
        seconds = float(text[:-1]) * units[text[-1:]]
    except (KeyError, ValueError):
        seconds = 0.0
    if not 0.0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"must be a time like 90s, 1m or 0.5h, got {text!r}")
    return seconds


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status says whether there is an answer."""
    return run_resumable("pitflip tune", words, arguments().parse_args(words), tuned)


def tuned(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Tune as the command line says; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.tuning.study_config import load_study  # noqa: PLC0415

    tuning = load_study(chosen.experiment, overrides(chosen))
    from arena.tuning.study import tune  # noqa: PLC0415

    with open_run_options(chosen, interrupts) as options:
        tune(tuning, options)
    return OK


if __name__ == "__main__":
    sys.exit(main())
