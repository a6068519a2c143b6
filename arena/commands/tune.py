"""Tune weights."""

import argparse
import sys

import arena.tuning  # noqa: F401  # before numpy: it keeps numpy to one thread
from arena.config.command_line import options_of, overrides, parser_of, resumable
from arena.playing.options import Interrupts
from games.base.errors import DONE

EXAMPLE = """\
example:
  pitflip tune experiments/tune_kalah.toml --budget 1m
exit status: 0 finished, whatever the verdict, 2 the file is wrong,
  3 not finished (what was played is kept; the same command continues)"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "Tune the weights of an agent by playing games; the answer is validated."
    parser = parser_of("pitflip tune", what, EXAMPLE)
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
    return resumable("pitflip tune", words, arguments().parse_args(words), tuned)


def tuned(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Tune as the command line says; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.tuning.study_config import load_tuning  # noqa: PLC0415

    tuning = load_tuning(chosen.experiment, overrides(chosen))
    from arena.tuning.study import tune  # noqa: PLC0415

    with options_of(chosen, interrupts) as options:
        tune(tuning, options)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
