"""The command `pitflip play`."""

import argparse
import contextlib
import io
import os
import signal
import sys
import time
import webbrowser
from pathlib import Path

from agents.core import AgentFailure
from agents.kinds.human import Dialogue, Quit
from arena.commands.options import SEED, limits, search_limits
from arena.commands.options import depth as depth_type
from arena.config.run_options import RESULTS
from arena.terminal.human_game import HumanGame
from arena.terminal.players import ASK, GameSetup, make_terminal_game
from games import game
from games.base.errors import CHECK_FAILED, OK, UserError, print_error
from games.base.files import write_text

EPILOG = """\
A player is human, a kind of agent (minimax:depth=3), a bot's file,
path.py:evaluate, or FILE.toml:NAME. With --depth ask you are asked for the
depth. During the game: undo, hint, restart, level N, help, quit.

examples:
  pitflip play "kalah(6,4)"
  pitflip play "kalah(6,4)" my_bot.py --browser
  pitflip play othello --first smart --second my_bot.py --depth 4"""


def depth_or_ask(text: str) -> int | str:
    """Parse the value of --depth."""
    return text if text == ASK else depth_type(text)


PARENTS = (limits(depth_or_ask), SEED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("game", metavar="GAME", help='such as "kalah(6,4)", owari, othello')
    parser.add_argument(
        "opponent", nargs="?", metavar="OPPONENT", help="your opponent (default: smart)"
    )
    parser.add_argument(
        "--first",
        metavar="PLAYER",
        help="the player that moves first (default: human); ask: choose at the start",
    )
    parser.add_argument(
        "--second",
        metavar="PLAYER",
        help="the player that moves second (default: the opponent)",
    )
    parser.add_argument("--side", help="the side that moves first, such as North")
    parser.add_argument("--start", metavar="POSITION", help="start from this position, in one line")
    parser.add_argument("--hint", action="store_true", help="show the exact value of every move")
    parser.add_argument(
        "--browser", action="store_true", help="play in the browser, where you click to move"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the game as a web page (default at a terminal: a new file in results/played)",
    )
    parser.add_argument(
        "--names", nargs=2, metavar=("FIRST", "SECOND"), help="the names of the players"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the game; the status is 1 if a bot fails."""
    replace_undecodable(sys.stdin, sys.stdout)
    dialogue = Dialogue()
    try:
        human_game = make_terminal_game(game(arguments.game), game_setup(arguments), dialogue)
    except Quit:
        return OK
    failure = None
    if arguments.browser:
        failure = play_in_browser(human_game)
    else:
        try:
            human_game.play()
        except AgentFailure as error:
            failure = error
    if human_game.moves:
        show_replay(human_game, arguments.out, dialogue)
    if failure:
        print_error(*f"pitflip play: {failure}".split("\n"))
    return CHECK_FAILED if failure else OK


def play_in_browser(human_game: HumanGame) -> AgentFailure | None:
    """Serve the game until Ctrl-C; return the fault of a bot that ended it."""
    from arena.report.browser_game import (
        BrowserGame,
        GameServer,
        SilentDialogue,
    )

    print(f"open {(server := GameServer(BrowserGame(human_game))).address}")
    print("Ctrl-C here ends the game", flush=True)
    dialogue, human_game.dialogue = human_game.dialogue, SilentDialogue()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)
    with server, contextlib.suppress(KeyboardInterrupt):
        if sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
            webbrowser.open(server.address)
        server.serve_forever(poll_interval=0.1)
    human_game.dialogue = dialogue
    return server.game.failure


def game_setup(arguments: argparse.Namespace) -> GameSetup:
    """Return the players and the start of the game."""
    first, second, opponent = arguments.first, arguments.second, arguments.opponent
    if opponent and first and second:
        raise UserError("--first and --second name both players: leave out OPPONENT")
    if opponent and second:
        first = opponent
    return GameSetup(
        first or "human",
        second or opponent or "smart",
        search_limits(arguments),
        arguments.names or (),
        arguments.seed,
        start=arguments.start,
        hints=arguments.hint,
        side=arguments.side,
    )


def replace_undecodable(*streams: object) -> None:
    """Read bytes that are not text as escapes instead of failing."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show_replay(human_game: HumanGame, page: Path | None, dialogue: Dialogue) -> None:
    """Write the page of the game and print the command that replays it.

    Without a terminal the page is written only on request.
    """
    if page is None and dialogue.source.isatty():
        page = RESULTS / "played" / f"{time.strftime('%Y-%m-%d-%H%M%S')}.html"
    if page is not None:
        from arena.report.page import PlayedGame, game_page

        names = human_game.players[0].name, human_game.players[1].name
        played_game = PlayedGame(
            human_game.game, names, human_game.positions, human_game.moves, human_game.ending
        )
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_text(page, game_page(played_game))
            dialogue.say(f"replay: {page.absolute().as_uri()}#game=0&ply={len(human_game.moves)}")
        except OSError as error:
            print_error(f"pitflip play: the page cannot be written: {error.strerror or error}")
    dialogue.say(human_game.command())
