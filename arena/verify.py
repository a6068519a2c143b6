"""Play stored games again and compare: python -m arena.verify results/smart_vs_bad/1a2b3c."""

import argparse
import sys
from pathlib import Path

from arena.playing.interrupts import Interrupts

SAME, DIFFERS, NOTHING, STOPPED = 0, 1, 2, 3


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.verify",
        description="Replay stored games from their seeds; moves and results must be the same.",
        epilog="exit status: 0 all the same, 1 a difference, 2 nothing to verify",
    )
    parser.add_argument("run", type=Path, help="a run's directory, results/<experiment>/<run>")
    parser.add_argument("--all", action="store_true", help="all games, not those of 200 pairings")
    parser.add_argument(
        "--experiment", type=Path, metavar="FILE", help="its file, to find bots that were moved"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    asked, interrupts = arguments().parse_args(words), Interrupts()
    # After --help, which needs none of it.
    from agents import AgentFailure, SpecError  # noqa: PLC0415
    from arena.concluding.reproduction import compare  # noqa: PLC0415
    from arena.keeping.run_directory import NotARun  # noqa: PLC0415
    from arena.planning.openings import OpeningsError  # noqa: PLC0415
    from arena.playing.workers import PlayOptions, RunFailed  # noqa: PLC0415
    from arena.reading.command_line import cores  # noqa: PLC0415

    with interrupts.installed():
        try:
            answer = compare(
                asked.run, asked.all, asked.experiment, PlayOptions(cores(), interrupts)
            )
        except (NotARun, AgentFailure, SpecError, OpeningsError, RunFailed) as error:
            print(f"arena.verify: {error}", file=sys.stderr)
            return NOTHING
        except KeyboardInterrupt:
            print("arena.verify: stopped", file=sys.stderr)
            return STOPPED
    for note in answer.notes:
        print(note, file=sys.stderr)
    if answer.difference:
        print(f"differs: {answer.difference}")
        return DIFFERS
    print(f"{answer.games:,} games played again: all the same")
    return SAME


if __name__ == "__main__":
    sys.exit(main())
