"""Tune an agent's weights: python -m arena.tune experiments/tune_kalah.toml."""

import argparse
import sys
from pathlib import Path

import arena.tuning  # noqa: F401  # before numpy: it keeps numpy to one thread
from arena.playing.interrupts import Interrupts
from arena.reading.command_line import cores, same_command, workers
from arena.reading.experiment_file import ExperimentError

EXAMPLE = """\
example:
  python -m arena.tune experiments/tune_kalah.toml --budget 1m
exit status: 0 finished, whatever the verdict, 2 the file is wrong,
  3 not finished (what was played is kept; the same command goes on)"""

FINISHED, FILE_WRONG, NOT_FINISHED = 0, 2, 3


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.tune",
        description="Tune the weights of an agent by playing games; the answer is validated.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiment", type=Path, help="an experiment with a [tune] table")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes",
        help="change one value of the file, such as tune.trials=50",
    )  # fmt: skip
    parser.add_argument("--seed", metavar="N", help="the same as --set seed=N")
    parser.add_argument(
        "--budget", type=budget, metavar="TIME", help="play what fits into 90s, 1m, 0.5h"
    )
    parser.add_argument("--workers", type=workers, metavar="N", help="processes (all cores)")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR")
    parser.add_argument("--fresh", action="store_true", help="play again what is finished")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the answer")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
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
    asked = arguments().parse_args(words)
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            return tuned(asked, interrupts)
        except ExperimentError as error:
            print(error, file=sys.stderr)
            return FILE_WRONG
        except KeyboardInterrupt:
            again = same_command("arena.tune", words)
            print(f"\nstopped; what is finished is kept. To go on: {again}", file=sys.stderr)
            return NOT_FINISHED


def tuned(asked: argparse.Namespace, interrupts: Interrupts) -> int:
    """Tune as asked; the exit status."""
    from arena.tuning.tune_table import load_tuning  # noqa: PLC0415  # help is answered before that

    changes = [*asked.changes, *([f"seed={asked.seed}"] if asked.seed is not None else [])]
    tuning = load_tuning(asked.experiment, changes)
    # Only now, so that mistakes are answered before anything large is loaded.
    from arena.pipeline import Unfinished, Unplayable  # noqa: PLC0415
    from arena.tuning.search import TuneOptions  # noqa: PLC0415
    from arena.tuning.study import tune  # noqa: PLC0415

    options = TuneOptions(
        results=asked.results,
        workers=asked.workers or cores(),
        budget=asked.budget,
        fresh=asked.fresh,
        quiet=asked.quiet or asked.json,
        json=asked.json,
        overrides=tuple(changes),
        interrupts=interrupts,
    )
    try:
        tune(tuning, options)
    except Unplayable as error:
        print(f"{asked.experiment}: {error}", file=sys.stderr)
        return FILE_WRONG
    except Unfinished as error:
        print(f"arena.tune: {error}", file=sys.stderr)
        return NOT_FINISHED
    return FINISHED


if __name__ == "__main__":
    sys.exit(main())
