"""The command `pitflip learn`."""

import argparse
import shlex
from pathlib import Path

from arena.commands.options import CHANGES, PLAY, overrides, run_options
from games.base.errors import OK, UserError, print_safely

PARENTS = (CHANGES, *PLAY)
EPILOG = """\
exit status: 0 finished, whatever the verdict; 2 a file is wrong; 3 not
finished: the games are stored, and the same command continues

examples:
  pitflip learn experiments/learn_kalah.toml
  pitflip learn --show results/learn_kalah/RUN/weights.npz
  pitflip learn --compare old.npz new.npz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "experiment", nargs="?", type=Path, metavar="FILE", help="an experiment file (TOML)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="also write the weights here if they are better"
    )
    parser.add_argument("--show", type=Path, metavar="WEIGHTS", help="print the weights in a file")
    parser.add_argument(
        "--compare",
        type=Path,
        nargs=2,
        metavar=("WEIGHTS", "OTHER"),
        help="list the weights that differ most between two files",
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn weights, print those of a file or compare two files."""
    modes = [arguments.experiment, arguments.show, arguments.compare]
    if sum(each is not None for each in modes) != 1:
        raise UserError("give one of: an experiment FILE, --show WEIGHTS, --compare WEIGHTS OTHER")
    if arguments.experiment is not None:
        return learn_weights(arguments)
    from arena.learning.weights_text import comparison_lines, weights_lines

    lines = (
        weights_lines(arguments.show) if arguments.show else comparison_lines(*arguments.compare)
    )
    shown = list(lines)
    print_safely(lambda: print("\n".join(shown)))
    return OK


def learn_weights(arguments: argparse.Namespace) -> int:
    """Learn the weights of an experiment and write the best."""
    from arena.learning.config import load_learn_config

    changes = overrides(arguments)
    learning = load_learn_config(arguments.experiment, changes)
    from agents.evaluation.weights import write_learned_weights
    from arena.learning.learn_run import best_round, learn

    set_words = [word for each in changes for word in ("--set", each)]
    command = shlex.join(["pitflip", "learn", str(arguments.experiment), *set_words])
    with run_options(arguments) as options:
        best = best_round(learn(learning, options, command))
    if arguments.out is not None and best is not None:
        write_learned_weights(arguments.out, best.weights)
    return OK
