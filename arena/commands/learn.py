"""Learn weights, show and compare them."""

import argparse
import shlex
import sys
from pathlib import Path

import arena.learning  # noqa: F401  # before numpy: it keeps numpy to one thread
from arena.config.command_line import add_play_options, open_run_options, overrides, run_resumable
from arena.playing.options import Interrupts
from games.base.errors import OK

EXAMPLE = """\
example:
  pitflip learn experiments/learn_kalah.toml
exit status: 0 finished, whatever the verdict, 2 the file is wrong,
  3 not finished (what was played is kept; the same command continues)"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "Learn the weights of tables or features from games that a teacher plays."
    parser = add_play_options("pitflip learn", what, EXAMPLE)
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="write the weights here too, if any are better"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    return run_resumable("pitflip learn", words, arguments().parse_args(words), learned)


def learned(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Learn as the command line says; the exit status."""
    # Only now, so that help is answered before anything large is loaded.
    from arena.learning.config import load_learn_config  # noqa: PLC0415

    learning = load_learn_config(chosen.experiment, overrides(chosen))
    from agents.evaluation.learned_weights import write_learned  # noqa: PLC0415
    from arena.learning.learn_run import best_round, learn  # noqa: PLC0415

    with open_run_options(chosen, interrupts) as options:
        rounds = learn(learning, options, learn_command(chosen))
    best = best_round(rounds)
    if chosen.to is not None and best is not None:
        write_learned(chosen.to, best.weights)
    return OK


def learn_command(chosen: argparse.Namespace) -> str:
    """The command that learns the same, wherever it is run and by however many workers."""
    changes = [word for each in overrides(chosen) for word in ("--set", each)]
    return shlex.join(["pitflip", "learn", str(chosen.experiment), *changes])


if __name__ == "__main__":
    sys.exit(main())
