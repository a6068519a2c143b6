"""Play an experiment: pitflip run experiments/smart_vs_bad.toml."""

import argparse
import sys
from pathlib import Path

from arena.config.command_line import add_play_options, open_run_options, overrides, run_resumable
from arena.playing.options import Interrupts
from games.base.errors import CHECK_FAILED, OK

EXAMPLE = """\
example:
  pitflip run experiments/smart_vs_bad.toml --set agents.smart.depth=6
exit status: 0 all checks hold, 1 a check failed, 2 the file is wrong, 3 the run
could not be finished: what was played is kept, and the same command continues"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = add_play_options(
        "pitflip run",
        "Play the games of an experiment file; tables go to results/.",
        EXAMPLE,
    )
    parser.add_argument("--pairs", metavar="N", help="the same as --set pairs=N")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the checks for CI")
    parser.add_argument(
        "--no-page", action="store_false", dest="page", help="leave out report.html"
    )
    parser.add_argument(
        "--live", action="store_true", help="show the games as they come in, in a browser"
    )
    parser.add_argument(
        "--no-pinning", action="store_false", dest="pinned",
        help="let workers and their bots move between cores",
    )  # fmt: skip
    parser.add_argument("--pairing", type=int, metavar="N", help="play one pairing alone, here")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    return run_resumable("pitflip run", words, arguments().parse_args(words), played)


def played(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Play as the command line says; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.config.experiment import Experiment, load  # noqa: PLC0415
    from arena.config.sweep import load_experiment_or_sweep  # noqa: PLC0415

    if chosen.pairing is not None:
        experiment = load(chosen.experiment, overrides(chosen))
        from arena.pipeline.run import play_one_pair  # noqa: PLC0415

        with open_run_options(chosen, interrupts) as options:
            play_one_pair(experiment, chosen.pairing, options)
        return OK
    asked = load_experiment_or_sweep(chosen.experiment, overrides(chosen))
    if isinstance(asked, Experiment):
        from arena.pipeline.run import run  # noqa: PLC0415

        with open_run_options(chosen, interrupts) as options:
            return OK if run(asked, options) else CHECK_FAILED
    from arena.pipeline.sweep import sweep  # noqa: PLC0415

    with open_run_options(chosen, interrupts) as options:
        return OK if sweep(asked, options) else CHECK_FAILED


if __name__ == "__main__":
    sys.exit(main())
