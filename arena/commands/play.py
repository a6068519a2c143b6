"""Play a game in the terminal."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from agents.core import AgentFailure
from agents.kinds.human import Dialogue, Quit
from agents.options import LIMITS
from agents.options import limit_options as search_limits
from agents.registry import AGENTS
from arena.config.command_line import RESULTS
from arena.terminal.human_game import HumanGame
from arena.terminal.players import ASK, GameSetup, terminal_game
from games import game
from games.base.cli import CommandParser, shell_command
from games.base.errors import CHECK_FAILED, OK, USER_ERROR, print_error, printable, run, status_of
from games.base.text import quote


def refuse(message: str) -> NoReturn:
    """End with one line about what is wrong with the command."""
    print(f"pitflip play: {printable(message)}", file=sys.stderr)
    sys.exit(USER_ERROR)


def depth_argument(text: str) -> int | str:
    """The value of --depth."""
    if text == ASK:
        return text
    if not text.lstrip("-").isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number or ask, got {quote(text)}")
    return int(text)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip play"),
        description="Play a game in the terminal: yourself, or two agents to watch. "
        "During the game: undo, hint, restart, level N, help, quit.",
        epilog=f"Agents: {', '.join(kind for kind in AGENTS if kind != 'python')}, "
        "path.py[:name] for your own bot, path.py:evaluate for alpha-beta with your evaluation.",
    )
    parser.error = refuse  # type: ignore[method-assign]  # one line, without the usage
    parser.add_argument("game", help='such as "kalah(6,4)", owari, "othello-adjacent(6)"')
    parser.add_argument("--first", default="human", help="who moves first; ask: you are asked")
    parser.add_argument("--second", default="smart", help="who moves second")
    limits = parser.add_mutually_exclusive_group()
    types: dict[str, Callable[[str], int | float | str]] = {
        "depth": depth_argument,
        "nodes": int,
        "seconds": float,
    }
    for option in search_limits():
        more = "; ask: you are asked" if option.name == "depth" else ""
        limits.add_argument(f"--{option.name}", type=types[option.name], help=option.words + more)
    parser.add_argument("--seed", type=int, help="of all random choices (a new one)")
    parser.add_argument("--side", help="of whoever moves first: South (below) or North")
    parser.add_argument("--start", metavar="POSITION", help="a position in one line to start from")
    parser.add_argument(
        "--hint", action="store_true", help="show people the exact value of every move"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE",
        help="write the game as a page (at a terminal: into results/played)",
    )  # fmt: skip
    parser.add_argument("--names", nargs=2, metavar=("FIRST", "SECOND"), help="else you are asked")
    return parser


def replace_undecodable(*streams: object) -> None:
    """Read bytes that are no text as strange characters: they must not end the game."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):  # not what a test or an editor puts in its place
            stream.reconfigure(errors="backslashreplace")


def main(words: list[str] | None = None, dialogue: Dialogue | None = None) -> int:
    """Run the command; 2 if it cannot begin, 1 if a bot fails."""
    chosen = arguments().parse_args(words)
    replace_undecodable(sys.stdin, sys.stdout)
    with_person = dialogue or Dialogue()
    return status_of("pitflip play", lambda: played(chosen, with_person))


def player_options(chosen: argparse.Namespace) -> GameSetup:
    """The players that a command line names."""
    limits = {name: limit for name in LIMITS if (limit := getattr(chosen, name)) is not None}
    return GameSetup(
        chosen.first,
        chosen.second,
        limits,
        chosen.names or (),
        chosen.seed,
        start=chosen.start,
        hints=chosen.hint,
        side=chosen.side,
    )


def played(chosen: argparse.Namespace, dialogue: Dialogue) -> int:
    """Play the game; the exit status."""
    try:
        shown = terminal_game(game(chosen.game), player_options(chosen), dialogue)
    except Quit:
        return OK
    failure = None
    try:
        shown.play()
    except AgentFailure as error:
        failure = error
    if shown.moves:
        offer_replay(shown, chosen.page, dialogue)
    if failure:
        print_error(*f"pitflip play: {failure}".split("\n"))
    return CHECK_FAILED if failure else OK


def offer_replay(shown: HumanGame, page: Path | None, dialogue: Dialogue) -> None:
    """End with the link to the game's replay and the command that shows it here."""
    if page is None and dialogue.source.isatty():
        page = RESULTS / "played" / f"{time.strftime('%Y-%m-%d-%H%M%S')}.html"
    if page is not None:
        # Only now: a game needs nothing of a page.
        from arena.report.page import ShownGame, game_page  # noqa: PLC0415
        from games.base.files import write_text  # noqa: PLC0415

        names = shown.players[0].name, shown.players[1].name
        game_shown = ShownGame(shown.of, names, shown.positions, shown.moves, shown.ending)
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_text(page, game_page(game_shown))
            dialogue.say(f"replay: {page.absolute().as_uri()}#game=0&ply={len(shown.moves)}")
        except OSError as error:
            print_error(f"pitflip play: the page cannot be written: {error.strerror or error}")
    dialogue.say(shown.command())


if __name__ == "__main__":
    run(main)
