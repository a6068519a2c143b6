"""Let our agents play in other people's programs: pitflip serve gtp --agent smart."""

import argparse
import importlib
import random
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import NoReturn

from agents.core import Agent, AgentSpec, HostSettings, SpecError
from agents.create import create_agent
from agents.options import LIMITS
from agents.options import limit_options as search_limits
from agents.protocols import PROTOCOLS, SOCKET_PROTOCOLS
from agents.sandbox.protocol_agent import accepts_any_position
from agents.sandbox.sandbox import Sandbox
from agents.serving import ProtocolServer, read_lines
from agents.spec import spec_from_text
from games import Game, game
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, USER_ERROR, printable, run, status_of
from games.base.schema import Key
from games.base.text import quote

USUAL_GAMES = {
    "lines": "kalah(6,4)",
    "gtp": "othello(8)",
    "nboard": "othello(8)",
    "kgp": "kalah(6,4)",
}
PORT = 2671  # of KGP
CONNECT_SECONDS = 10.0
TYPES = {"int": int, "float": float, "bool": bool}


def refuse(message: str) -> NoReturn:
    """End with one line about what is wrong with the command."""
    print(f"pitflip serve: {printable(message)}", file=sys.stderr)
    sys.exit(USER_ERROR)


def serve_options(name: str) -> tuple[Key, ...]:
    """What the command line may say about a protocol."""
    keys: tuple[Key, ...] = getattr(importlib.import_module(PROTOCOLS[name]), "SERVE_OPTIONS", ())
    return keys


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip serve"),
        description="Speak a protocol on standard input and output, or to a server: "
        "our agent is the bot, the other program asks.",
    )
    parser.error = refuse  # type: ignore[method-assign]  # one line, without the usage
    protocols = parser.add_subparsers(dest="protocol", required=True, metavar="PROTOCOL")
    for name in PROTOCOLS:
        usual = USUAL_GAMES.get(name, "any game")
        one = protocols.add_parser(name, help=f"plays {usual} unless told another by --game")
        one.error = refuse  # type: ignore[method-assign]
        add_agent_arguments(one, name)
        for key in serve_options(name):
            one.add_argument(
                f"--{key.name.replace('_', '-')}",
                type=TYPES.get(key.type, str),
                choices=key.choices or None,
                default=key.default,
                help=key.words,
            )
    return parser


def add_agent_arguments(parser: argparse.ArgumentParser, protocol: str) -> None:
    """Who plays what, and where the other side is."""
    parser.add_argument(
        "--agent", default="smart", help="a kind, or path.py[:name], which runs in the sandbox"
    )
    parser.add_argument("--game", default=USUAL_GAMES.get(protocol), help="which game is played")
    limits = parser.add_mutually_exclusive_group()
    for option in search_limits():
        kind = int if option.type == "int" else float
        limits.add_argument(f"--{option.name}", type=kind, help=option.words)
    parser.add_argument("--seed", type=int, help="of everything left to chance; else a new one")
    if protocol in SOCKET_PROTOCOLS:
        parser.add_argument("--host", default="127.0.0.1", help="where the server is")
        parser.add_argument("--port", type=int, default=PORT, help="the port of the server")


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 when it cannot begin."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip serve", lambda: run_serve(chosen))


def run_serve(chosen: argparse.Namespace) -> int:
    """Serve until the other side has had enough."""
    if chosen.game is None:
        raise SpecError(f"say which game is played: --game, as in --game {quote('kalah(6,4)')}")
    of, module = game(chosen.game), importlib.import_module(PROTOCOLS[chosen.protocol])
    module.conversation(of, {})  # SpecError if nobody can play this game by it
    limits = {name: limit for name in LIMITS if (limit := getattr(chosen, name)) is not None}
    spec = spec_from_text(chosen.agent, limits)
    with closing(Sandbox()) as sandbox:
        serve_agent(chosen, of, lambda other: sandboxed_agent(spec, other, sandbox))
    return OK


def sandboxed_agent(spec: AgentSpec, of: Game, sandbox: Sandbox) -> Agent:
    """The agent of the spec; a user's code runs in the sandbox, as everywhere."""
    agent = create_agent(spec, of, HostSettings(sandbox))
    if not accepts_any_position(agent):
        raise SpecError(f"{spec.kind} follows a game move by move, so it cannot be served")
    return agent


def serve_agent(chosen: argparse.Namespace, of: Game, create: Callable[[Game], Agent]) -> None:
    """Speak the protocol until the other side has had enough."""
    agent, module = create(of), importlib.import_module(PROTOCOLS[chosen.protocol])
    options = {key.name: getattr(chosen, key.name) for key in serve_options(chosen.protocol)}
    seed = random.SystemRandom().getrandbits(32) if chosen.seed is None else chosen.seed

    def speak(lines: Iterable[str], write: Callable[[str], object]) -> None:
        serving = ProtocolServer(lines, write, of, agent, create, seed)
        serving.run(module.serve(of, agent, options))

    if chosen.protocol in SOCKET_PROTOCOLS:
        with socket.create_connection((chosen.host, chosen.port), CONNECT_SECONDS) as server:
            server.settimeout(None)
            # Else a line waits for the receipt of the one before, which takes 40 ms to come.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = server.makefile(encoding="utf-8", errors="replace", newline="\n")
            speak(read_lines(stream), lambda text: server.sendall(text.encode()))
        return
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # a text stream
    speak(read_lines(sys.stdin), lambda text: print(text, end="", flush=True))


if __name__ == "__main__":
    run(main)
