"""The command `pitflip learn`."""

import argparse
import shlex
from pathlib import Path

from arena.commands.options import CHANGES, PLAY, overrides, run_options
from games.base.errors import OK, UserError, print_safely

PARENTS = (CHANGES, *PLAY)
EPILOG = """\
examples:
  pitflip learn experiments/learn_kalah.toml
  pitflip learn --show results/learn_kalah/RUN/weights.npz
  pitflip learn --compare old.npz new.npz
exit status: 0 finished, whatever the verdict; 2 a file is wrong; 3 not
finished: the games are stored, and the same command continues"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "experiment", nargs="?", type=Path, metavar="FILE", help="an experiment file (TOML)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="also write the weights here if they are better"
    )
    parser.add_argument("--show", type=Path, metavar="WEIGHTS", help="draw a file of weights")
    parser.add_argument(
        "--compare",
        type=Path,
        nargs=2,
        metavar=("WEIGHTS", "OTHER"),
        help="list where two files of weights differ most",
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn, or show or compare files of weights."""
    asked = [arguments.experiment, arguments.show, arguments.compare]
    if sum(each is not None for each in asked) != 1:
        raise UserError("needs one of: an experiment FILE, --show WEIGHTS, --compare WEIGHTS OTHER")
    if arguments.experiment is not None:
        return learn_weights(arguments)
    from arena.learning.weights_text import comparison_lines, weights_lines  # noqa: PLC0415

    lines = (
        weights_lines(arguments.show) if arguments.show else comparison_lines(*arguments.compare)
    )
    shown = list(lines)
    print_safely(lambda: print("\n".join(shown)))
    return OK


def learn_weights(arguments: argparse.Namespace) -> int:
    """Learn as the experiment says."""
    from arena.learning.config import load_learn_config  # noqa: PLC0415  # not needed for --help

    changes = overrides(arguments)
    learning = load_learn_config(arguments.experiment, changes)
    from agents.evaluation.learned_weights import write_learned  # noqa: PLC0415
    from arena.learning.learn_run import best_round, learn  # noqa: PLC0415

    set_words = [word for each in changes for word in ("--set", each)]
    command = shlex.join(["pitflip", "learn", str(arguments.experiment), *set_words])
    with run_options(arguments) as options:
        best = best_round(learn(learning, options, command))
    if arguments.out is not None and best is not None:
        write_learned(arguments.out, best.weights)
    return OK
