"""The command `pitflip play`."""

import argparse
import io
import sys
import time
from pathlib import Path

from agents.core import AgentFailure
from agents.kinds.human import Dialogue, Quit
from arena.commands.options import SEED, chosen_limits, limits
from arena.commands.options import depth as depth_type
from arena.config.command_line import RESULTS
from arena.terminal.human_game import HumanGame
from arena.terminal.players import ASK, GameSetup, terminal_game
from games import game
from games.base.errors import CHECK_FAILED, OK, print_error
from games.base.files import write_text

EPILOG = """\
examples:
  pitflip play "kalah(6,4)"
  pitflip play othello --first smart --second my_bot.py --depth 4
A player is human, a kind of agent, a bot's file, path.py:evaluate, or
FILE.toml:NAME. With --depth ask you are asked for the depth. During the game:
undo, hint, restart, level N, help, quit."""


def depth_or_ask(text: str) -> int | str:
    """Parse the value of --depth."""
    return text if text == ASK else depth_type(text)


PARENTS = (limits(depth_or_ask), SEED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.add_argument("game", metavar="GAME", help='such as "kalah(6,4)", owari, othello')
    parser.add_argument(
        "--first",
        default="human",
        metavar="PLAYER",
        help="moves first (default: human); ask: choose at the start",
    )
    parser.add_argument("--second", default="smart", metavar="PLAYER", help="moves second (smart)")
    parser.add_argument("--side", help="the side of the player who moves first, such as South")
    parser.add_argument("--start", metavar="POSITION", help="start from a position in one line")
    parser.add_argument("--hint", action="store_true", help="show the exact value of every move")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the game as a page (default at a terminal: below results/played)",
    )
    parser.add_argument(
        "--names", nargs=2, metavar=("FIRST", "SECOND"), help="the names of the players"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the game; the status is 1 if a bot fails."""
    replace_undecodable(sys.stdin, sys.stdout)
    dialogue = Dialogue()
    try:
        shown = terminal_game(game(arguments.game), game_setup(arguments), dialogue)
    except Quit:
        return OK
    failure = None
    try:
        shown.play()
    except AgentFailure as error:
        failure = error
    if shown.moves:
        show_replay(shown, arguments.out, dialogue)
    if failure:
        print_error(*f"pitflip play: {failure}".split("\n"))
    return CHECK_FAILED if failure else OK


def game_setup(arguments: argparse.Namespace) -> GameSetup:
    """Return the players and the start that the command line describes."""
    return GameSetup(
        arguments.first,
        arguments.second,
        chosen_limits(arguments),
        arguments.names or (),
        arguments.seed,
        start=arguments.start,
        hints=arguments.hint,
        side=arguments.side,
    )


def replace_undecodable(*streams: object) -> None:
    """Read bytes that are not text as escapes, so that they do not end the game."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show_replay(shown: HumanGame, page: Path | None, dialogue: Dialogue) -> None:
    """Write the page of the game if there is to be one, and print how to see the game again."""
    if page is None and dialogue.source.isatty():
        page = RESULTS / "played" / f"{time.strftime('%Y-%m-%d-%H%M%S')}.html"
    if page is not None:
        from arena.report.page import ShownGame, game_page  # noqa: PLC0415  # only for a page

        names = shown.players[0].name, shown.players[1].name
        game_shown = ShownGame(shown.of, names, shown.positions, shown.moves, shown.ending)
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_text(page, game_page(game_shown))
            dialogue.say(f"replay: {page.absolute().as_uri()}#game=0&ply={len(shown.moves)}")
        except OSError as error:
            print_error(f"pitflip play: the page cannot be written: {error.strerror or error}")
    dialogue.say(shown.command())
