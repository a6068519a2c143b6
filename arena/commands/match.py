"""The command `pitflip match`."""

import argparse

from arena.commands.options import (
    DRY_RUN,
    PAIRS,
    PLAY,
    SHOW_OUTPUT,
    WIDTH,
    number,
    whole_number,
)
from arena.commands.run import play_or_forecast

PARENTS = (*PLAY, PAIRS, WIDTH, SHOW_OUTPUT, DRY_RUN)
EPILOG = """\
An agent is a kind, with options if needed (minimax:depth=3,epsilon=0.1), a
bot's file, path.py:evaluate, or FILE.toml:NAME. The opponent "scale" rates the
agent on the absolute scale of the game, from random on.
exit status: 0 played; 2 an agent or option is wrong; 3 not finished: the games
are stored, and the same command continues

examples:
  pitflip match smart greedy --pairs 50
  pitflip match bots/mine.py minimax:depth=3 --pairs 200
  pitflip match bots/mine.py minimax:depth=3 --width 30
  pitflip match my_bot.py scale
  pitflip match my_bot.py experiments/mine.toml:mine --game othello --sprt 0 20"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] AGENT OPPONENT"
    parser.set_defaults(page=True)
    parser.add_argument("first", metavar="AGENT", help="the first agent")
    parser.add_argument("second", metavar="OPPONENT", help="the second agent")
    parser.add_argument("--game", default="kalah(6,4)", help="the game (default: kalah(6,4))")
    parser.add_argument(
        "--openings",
        type=whole_number(0, 60),
        metavar="PLIES",
        help="start each pair after this many random plies (default: 6)",
    )
    parser.add_argument(
        "--sprt",
        type=number,
        nargs=2,
        metavar=("ELO0", "ELO1"),
        help="stop when a sequential test decides between these two Elo differences",
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the match, or forecast it."""
    from arena.config.experiment import (
        build_experiment,
        match_tables,
        stop_table,
    )
    from arena.config.toml_file import source_from_tables

    plies = arguments.openings
    settings = {
        "pairs": arguments.pairs,
        "seed": arguments.seed,
        "openings": None if plies is None else {"random_plies": plies},
        "stop": stop_table(arguments.width, arguments.sprt),
    }
    tables = match_tables(arguments.first, arguments.second, arguments.game, settings)
    experiment = build_experiment(*source_from_tables(tables))
    return play_or_forecast(experiment, arguments)
