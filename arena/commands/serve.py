"""The command `pitflip serve`."""

import argparse
import importlib
import random
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import closing

from agents.core import Agent, AgentSpec, HostSettings, SpecError
from agents.create import create_agent
from agents.protocols import PROTOCOLS, SOCKET_PROTOCOLS
from agents.sandbox.protocol_agent import accepts_any_position
from agents.sandbox.sandbox import Sandbox
from agents.serving import ProtocolServer, read_lines
from agents.spec import spec_from_text
from arena.commands.options import LIMITS, SEED, group, option, search_limits, whole_number
from games import Game
from games import game as load_game
from games.base.cli import CommandParser
from games.base.errors import OK
from games.base.schema import Key
from games.base.text import quote

EPILOG = """\
The agent reads standard input and answers on standard output; for kgp it
connects to a server.

examples:
  pitflip serve gtp --agent smart --game othello
  pitflip serve kgp --host kalah.example.org --token SECRET"""
DEFAULT_GAMES = {
    "lines": "kalah(6,4)",
    "gtp": "othello(8)",
    "nboard": "othello(8)",
    "kgp": "kalah(6,4)",
}
PORT = 2671  # of KGP
CONNECT_SECONDS = 10.0
TYPES = {"int": int, "float": float, "bool": bool}
METAVARS = {"int": "N"}
AGENT = group(
    option(
        "--agent", default="smart", help="a kind, a bot's file, or path.py:name (default: smart)"
    ),
    option("--game", help="the game to play"),
)
SERVER = group(
    option("--host", default="127.0.0.1", help="the address of the server (default: 127.0.0.1)"),
    option(
        "--port",
        type=whole_number(1, 65_535),
        default=PORT,
        metavar="N",
        help=f"the port of the server (default: {PORT})",
    ),
)


def serve_options(protocol: str) -> tuple[Key, ...]:
    """Return the options of a protocol."""
    module = importlib.import_module(PROTOCOLS[protocol])
    keys: tuple[Key, ...] = getattr(module, "SERVE_OPTIONS", ())
    return keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each protocol."""
    protocols = parser.add_subparsers(
        dest="protocol", required=True, metavar="PROTOCOL", parser_class=CommandParser
    )
    for name in PROTOCOLS:
        default = DEFAULT_GAMES.get(name)
        summary = f"plays {default} by default" if default else "needs --game"
        server = (SERVER,) if name in SOCKET_PROTOCOLS else ()
        own = protocols.add_parser(name, help=summary, parents=[AGENT, LIMITS, SEED, *server])
        for key in serve_options(name):
            own.add_argument(
                f"--{key.name.replace('_', '-')}",
                type=TYPES.get(key.type, str),
                choices=key.choices or None,
                default=key.default,
                metavar=None if key.choices else METAVARS.get(key.type, "TEXT"),
                help=key.description,
            )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the other program ends the conversation."""
    name = arguments.game or DEFAULT_GAMES.get(arguments.protocol)
    if name is None:
        raise SpecError(f"name the game, as in --game {quote('kalah(6,4)')}")
    game, module = load_game(name), importlib.import_module(PROTOCOLS[arguments.protocol])
    module.conversation(game, {})  # a SpecError if the protocol does not know this game
    spec = spec_from_text(arguments.agent, search_limits(arguments))
    with closing(Sandbox()) as sandbox:
        serve_agent(arguments, game, lambda other: create_in_sandbox(spec, other, sandbox))
    return OK


def create_in_sandbox(spec: AgentSpec, game: Game, sandbox: Sandbox) -> Agent:
    """Return the agent of the spec; a user's code runs in the sandbox."""
    agent = create_agent(spec, game, HostSettings(sandbox))
    if not accepts_any_position(agent):
        raise SpecError(f"{spec.kind} must follow a game from its start, so it cannot be served")
    return agent


def serve_agent(arguments: argparse.Namespace, game: Game, create: Callable[[Game], Agent]) -> None:
    """Speak the protocol until the other program ends the conversation."""
    agent, module = create(game), importlib.import_module(PROTOCOLS[arguments.protocol])
    options = {key.name: getattr(arguments, key.name) for key in serve_options(arguments.protocol)}
    seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed

    def speak(lines: Iterable[str], write: Callable[[str], object]) -> None:
        serving = ProtocolServer(lines, write, game, agent, create, seed)
        serving.run(module.serve(game, agent, options))

    if arguments.protocol in SOCKET_PROTOCOLS:
        with socket.create_connection((arguments.host, arguments.port), CONNECT_SECONDS) as server:
            server.settimeout(None)
            # Nagle's algorithm would delay each line by 40 ms.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = server.makefile(encoding="utf-8", errors="replace", newline="\n")
            speak(read_lines(stream), lambda text: server.sendall(text.encode()))
        return
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # a text stream
    speak(read_lines(sys.stdin), lambda text: print(text, end="", flush=True))
