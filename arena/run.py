"""Play an experiment: python -m arena.run experiments/smart_vs_bad.toml."""

import argparse
import sys
from pathlib import Path

from arena.playing.interrupts import Interrupts
from arena.reading.command_line import cores, same_command, workers
from arena.reading.experiment_file import ExperimentError, load
from games.terminal import say

EXAMPLE = """\
example:
  python -m arena.run experiments/smart_vs_bad.toml --set agents.smart.depth=6
exit status: 0 all checks hold, 1 a check failed, 2 the file is wrong, 3 the run
could not be finished: what was played is kept, and the same command goes on"""

HOLDS, CHECK_FAILED, FILE_WRONG, NOT_FINISHED = 0, 1, 2, 3


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.run",
        description="Play the games of an experiment file; tables go to results/.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiment", type=Path, help="a TOML file: docs/experiment-file.md")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes",
        help="change one value of the file, such as agents.smart.depth=6",
    )  # fmt: skip
    parser.add_argument("--seed", metavar="N", help="the same as --set seed=N")
    parser.add_argument("--pairs", metavar="N", help="the same as --set pairs=N")
    parser.add_argument("--workers", type=workers, metavar="N", help="processes (all cores)")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="DIR", help="not results/, but DIR"
    )
    parser.add_argument("--fresh", action="store_true", help="set an earlier run aside, begin anew")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the tables")
    parser.add_argument("--json", action="store_true", help="print the tables as one JSON object")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the checks for CI")
    parser.add_argument("--pairing", type=int, metavar="N", help="play one pairing alone, here")
    return parser


def overrides(asked: argparse.Namespace) -> list[str]:
    """All values that the command line changes."""
    short = {"seed": asked.seed, "pairs": asked.pairs}
    named = [f"{key}={value}" for key, value in short.items() if value is not None]
    return [*asked.changes, *named]


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    asked = arguments().parse_args(words)
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            return played(asked, interrupts)
        except ExperimentError as error:
            say(str(error))
            return FILE_WRONG
        except KeyboardInterrupt:
            again = same_command("arena.run", words)
            say(f"\nstopped; what is finished is kept. To go on: {again}")
            return NOT_FINISHED


def played(asked: argparse.Namespace, interrupts: Interrupts) -> int:
    """Play as asked; the exit status."""
    experiment = load(asked.experiment, overrides(asked))
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.pipeline import Options, Unfinished, Unplayable, play_alone, run  # noqa: PLC0415

    options = Options(
        results=asked.results,
        workers=asked.workers or cores(),
        fresh=asked.fresh,
        quiet=asked.quiet or asked.json,
        json=asked.json,
        overrides=tuple(overrides(asked)),
        junit=asked.junit,
        interrupts=interrupts,
    )
    try:
        if asked.pairing is not None:
            play_alone(experiment, options, asked.pairing)
            return HOLDS
        return HOLDS if run(experiment, options) else CHECK_FAILED
    except Unplayable as error:
        say(f"{asked.experiment}: {error}")
        return FILE_WRONG
    except Unfinished as error:
        say(f"arena.run: {error}")
        return NOT_FINISHED


if __name__ == "__main__":
    sys.exit(main())
