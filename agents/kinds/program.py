"""A user's program in any language, reached by a protocol."""

import importlib
import os
import re
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from agents.core import AgentFailure, AgentSpec, HostSettings, Options, SpecError
from agents.languages import InterpreterMissing, needs_interpreter, shebang_command, source_command
from agents.options import bot_limits, bot_options, external_reason
from agents.protocols import PROTOCOLS, RELAYS, SOCKET_PROTOCOLS
from agents.protocols.conversation import ProtocolModule
from agents.registry import Kind, option_values
from agents.sandbox.isolation import IsolationLevel
from agents.sandbox.namespaces import system_directories
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.transports import BotProcess
from games import Game
from games.base.errors import printable
from games.base.schema import Key
from games.base.text import quote

GAMES_FOLDERS = ("/usr/games", "/usr/local/games")  # engines lie there, off the path of many users
PROCESSES = 64  # of a program: the runtime of an idle Java has 19 threads
COMMAND = Key(
    "command",
    "command",
    "the program and its arguments, in one list",
    required=True,
    example=', as in command = ["node", "my_bot.js"]',
)
PROGRAM_KEYS = (
    COMMAND,
    Key("seconds", "float", "how long it may think about a move", above=0, high=86_400),
    Key("cwd", "path", "the directory that it runs in, which it can read; else an empty one"),
    Key("readable", "paths", "what else it can read: files and directories"),
    Key("environment", "table", "variables of its environment"),
    Key("process", "text", "how long a process lives", "run", choices=("run", "game")),
    *bot_options(PROCESSES),
)
LONGEST_NAME = 120  # characters
# By these a client finds out where localhost is.
RESOLVER = ("/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf")
PROTOCOLS_HOME = Path(__file__).parents[1] / "protocols"


def load_protocol(name: str) -> ProtocolModule:
    """The module of a protocol."""
    module: ProtocolModule = importlib.import_module(PROTOCOLS[name])  # type: ignore[assignment]
    return module


@cache
def kind(name: str) -> Kind:
    """The kind of programs that speak this protocol."""

    def refusal(of: Game) -> str | None:
        try:
            load_protocol(name).conversation(of, {})
        except SpecError as error:
            return str(error)
        return None

    options = {key.name: key for key in (*PROGRAM_KEYS, *load_protocol(name).OPTIONS)}
    return Kind(
        build, tuple(options.values()), (), external_reason, users_code, behind, refusal,
        summary=f"a program, asked by the protocol {name}",
    )  # fmt: skip


def users_code(options: Options) -> str:
    """The whole bot is somebody else's."""
    return f"{bot_name(options)} chooses its moves"


def bot_name(options: Options) -> str:
    """What messages call it: its command, without the directories and on one line."""
    return printable(" ".join(Path(word).name or word for word in options["command"]), LONGEST_NAME)


def build(spec: AgentSpec, of: Game) -> ProtocolAgent:
    """A program behind a wall of its own."""
    return behind(spec, of, HostSettings(Sandbox()))


def behind(spec: AgentSpec, of: Game, terms: HostSettings) -> ProtocolAgent:
    """A program that is not started yet; AgentFailure if there is none."""
    options = option_values(kind(spec.kind).options, spec, of)
    conversation = load_protocol(spec.kind).conversation(of, options)
    seconds = min(options["seconds"] or terms.seconds, terms.seconds)
    program = program_of(options, terms.cores)
    if spec.kind in RELAYS:
        program = with_relay(program, *RELAYS[spec.kind])
    if spec.kind in SOCKET_PROTOCOLS and "seccomp" in terms.wall.level.measures:
        refuse_shared_network(options, terms.wall.level)
    bot = BotProcess(bot_name(options), terms.wall, bot_limits(options, PROCESSES))
    fresh = options["process"] == "game"
    return ProtocolAgent(spec, of, conversation, program, bot, seconds, fresh)


def refuse_shared_network(options: Options, level: IsolationLevel) -> None:
    """AgentFailure where a client would need a network, but has none of its own."""
    if "namespaces" not in level.measures:
        message = (
            f"cannot be started: it needs a network of its own, which walls of level {level.name} "
            "do not give"
        )
        raise AgentFailure("unloadable", bot_name(options), "", message)


def program_of(options: Options, cores: tuple[int, ...] = ()) -> Program:
    """What is executed on these cores; AgentFailure if there is no such program."""
    command: tuple[str, ...] = tuple(options["command"])
    if needs_interpreter(Path(command[0])):
        command = (*source_command(Path(command[0]).absolute()), *command[1:])
    name, *arguments = command
    found = find_program(name)
    if found is None:
        raise AgentFailure("unloadable", bot_name(options), "", f"cannot be started: {no(name)}")
    found = str(Path(found).absolute())
    try:
        by = shebang_command(Path(found), find_program)
    except (InterpreterMissing, OSError, ValueError) as error:
        message = f"cannot be started: {printable(str(error))}"
        raise AgentFailure("unloadable", bot_name(options), "", message) from None
    cwd = str(Path(options["cwd"]).absolute()) if options.get("cwd") else ""
    readable = (
        *interpreter_prefixes(found),
        *(interpreter_prefixes(by[0]) if by else ()),
        *(str(Path(each).absolute()) for each in options.get("readable") or ()),
        *[cwd] * bool(cwd),
    )
    environment = {key: str(value) for key, value in (options.get("environment") or {}).items()}
    return Program((*by, found, *arguments), readable, environment, cwd, cores)


def with_relay(program: Program, relay: str, *words: str) -> Program:
    """A bot with a relay of ours beside it, which starts it and is asked in its place."""
    python = str(Path(sys.executable).resolve())
    command = (python, "-IS", str(PROTOCOLS_HOME / relay), *words, *program.command)
    readable = (*program.readable, sys.base_prefix, *RESOLVER)
    return replace(program, command=command, readable=readable, loopback=True)


def find_program(name: str) -> str | None:
    """The program of this name; not a shim of pyenv and its like, which chooses one by the home."""
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *GAMES_FOLDERS]
    found = shutil.which(name, path=os.pathsep.join(f for f in folders if Path(f).name != "shims"))
    python = sys.executable if re.fullmatch(r"python(3(\.[0-9]+)?)?", name) else None
    return found or python or shutil.which(name)


def no(name: str) -> str:
    """Why a program cannot be executed."""
    path = Path(name)
    if path.is_dir():
        return f"{quote(name)} is a directory"
    if path.is_file():
        return f"{quote(name)} is not executable (chmod +x, or name its interpreter first)"
    return f"there is no program {quote(name)}"


def interpreter_prefixes(program: str) -> tuple[str, ...]:
    """The directories from which an interpreter outside the system's own places takes its library.

    It stands in `bin` of one of them, as does the file that a link to it means.
    """
    system = tuple(system_directories())
    prefixes = []
    for path in (Path(program), Path(program).resolve()):
        home = path.parent.parent
        if path.parent.name == "bin" and home not in (Path("/"), Path.home()):
            prefixes += [] if str(path).startswith(system) else [str(home)]
    return tuple(prefixes)
