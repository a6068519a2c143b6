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
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.restrictions import system_directories
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.transports import BotProcess
from games import Game
from games.base.errors import printable
from games.base.schema import Key
from games.base.text import quote

GAMES_FOLDERS = ("/usr/games", "/usr/local/games")  # packaged engines, often missing from PATH
PROCESSES = 64  # an idle Java runtime has 19 threads
COMMAND = Key(
    "command",
    "command",
    "the program and its arguments, in one list",
    required=True,
    example=', as in command = ["node", "my_bot.js"]',
)
PROGRAM_KEYS = (
    COMMAND,
    Key("seconds", "float", "the time limit per move, in seconds", above=0, high=86_400),
    Key("cwd", "path", "the working directory, which it can read; by default an empty one"),
    Key("readable", "paths", "more files and directories that it can read"),
    Key("environment", "table", "environment variables"),
    Key("process", "text", "the lifetime of a process", "run", choices=("run", "game")),
    *bot_options(PROCESSES),
)
LONGEST_NAME = 120  # characters
# Files by which a client resolves localhost.
RESOLVER = ("/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf")
RELAY = str(Path(__file__).parents[1] / "protocols" / "relay.py")


def load_protocol(name: str) -> ProtocolModule:
    """Return the module of a protocol."""
    module: ProtocolModule = importlib.import_module(PROTOCOLS[name])  # type: ignore[assignment]
    return module


def protocol_summary(name: str) -> str:
    """Return what the first line of a protocol's module says about it."""
    line = (load_protocol(name).__doc__ or "").partition("\n")[0]
    return line.rstrip(".").removesuffix(", both directions")


@cache
def kind(name: str) -> Kind:
    """Return the kind of programs that use this protocol."""

    def refusal(game: Game) -> str | None:
        try:
            load_protocol(name).conversation(game, {})
        except SpecError as error:
            return str(error)
        return None

    options = {key.name: key for key in (*PROGRAM_KEYS, *load_protocol(name).OPTIONS)}
    return Kind(
        build, tuple(options.values()), (), external_reason, user_code_reason, host_bot, refusal,
        summary=f"a program. {protocol_summary(name)}",
    )  # fmt: skip


def user_code_reason(options: Options) -> str:
    """Return the statement that the program chooses its moves."""
    return f"{bot_name(options)} chooses its moves"


def bot_name(options: Options) -> str:
    """Return the command for messages: without directories and on one line."""
    return printable(" ".join(Path(word).name or word for word in options["command"]), LONGEST_NAME)


def build(spec: AgentSpec, game: Game) -> ProtocolAgent:
    """A program in its own sandbox."""
    return host_bot(spec, game, HostSettings(Sandbox()))


def host_bot(spec: AgentSpec, game: Game, host: HostSettings) -> ProtocolAgent:
    """Create the agent without starting its program; AgentFailure if there is no program."""
    options = option_values(kind(spec.kind).options, spec, game)
    conversation = load_protocol(spec.kind).conversation(game, options)
    seconds = min(options["seconds"] or host.move_seconds, host.move_seconds)
    program = find_command(options, host.cores)
    if spec.kind in RELAYS:
        program = add_relay(program, *RELAYS[spec.kind])
    if spec.kind in SOCKET_PROTOCOLS and "seccomp" in host.sandbox.level.measures:
        refuse_shared_network(options, host.sandbox.level)
    limits = bot_limits(options, PROCESSES)
    bot = BotProcess(bot_name(options), host.sandbox, limits, host.name)
    new_process_per_game = options["process"] == "game"
    return ProtocolAgent(spec, game, conversation, program, bot, seconds, new_process_per_game)


def refuse_shared_network(options: Options, level: IsolationLevel) -> None:
    """Raise AgentFailure if the isolation level gives a client no private network."""
    if "namespaces" not in level.measures:
        message = (
            f"cannot be started: it needs a private network, which isolation level {level.name} "
            "does not provide"
        )
        raise AgentFailure("unloadable", bot_name(options), "", message)


def find_command(options: Options, cores: tuple[int, ...] = ()) -> Program:
    """Return the program and its sandbox settings; AgentFailure if it does not exist."""
    command: tuple[str, ...] = tuple(options["command"])
    if needs_interpreter(Path(command[0])):
        command = (*source_command(Path(command[0]).absolute()), *command[1:])
    name, *arguments = command
    found = find_program(name)
    if found is None:
        raise AgentFailure(
            "unloadable", bot_name(options), "", f"cannot be started: {missing_program_text(name)}"
        )
    found = str(Path(found).absolute())
    try:
        interpreter = shebang_command(Path(found), find_program)
    except (InterpreterMissing, OSError, ValueError) as error:
        message = f"cannot be started: {printable(str(error))}"
        raise AgentFailure("unloadable", bot_name(options), "", message) from None
    cwd = str(Path(options["cwd"]).absolute()) if options.get("cwd") else ""
    readable = (
        *interpreter_prefixes(found),
        *(interpreter_prefixes(interpreter[0]) if interpreter else ()),
        *(str(Path(path).absolute()) for path in options.get("readable") or ()),
        *[cwd] * bool(cwd),
    )
    environment = {key: str(value) for key, value in (options.get("environment") or {}).items()}
    return Program((*interpreter, found, *arguments), readable, environment, cwd, cores)


def add_relay(program: Program, *words: str) -> Program:
    """Return the program with our relay, which starts the bot and talks to its host."""
    python = str(Path(sys.executable).resolve())
    command = (python, "-IS", RELAY, *words, *program.command)
    readable = (*program.readable, sys.base_prefix, *RESOLVER)
    return replace(program, command=command, readable=readable, loopback=True)


def find_program(name: str) -> str | None:
    """Return the path of a program; shims of pyenv and similar tools are skipped.

    A shim chooses a version by the home directory, which the sandbox does not have.
    """
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *GAMES_FOLDERS]
    found = shutil.which(name, path=os.pathsep.join(f for f in folders if Path(f).name != "shims"))
    python = sys.executable if re.fullmatch(r"python(3(\.[0-9]+)?)?", name) else None
    return found or python or shutil.which(name)


def missing_program_text(name: str) -> str:
    """Return why a program cannot be executed."""
    path = Path(name)
    if path.is_dir():
        return f"{quote(name)} is a directory"
    if path.is_file():
        return f"{quote(name)} is not executable (chmod +x, or name its interpreter first)"
    return f"there is no program {quote(name)}"


def interpreter_prefixes(program: str) -> tuple[str, ...]:
    """Return the installation directories of an interpreter outside the system directories.

    The prefix is the parent of `bin`, for the path itself and for the target of a link.
    """
    system = tuple(system_directories())
    prefixes = []
    for path in (Path(program), Path(program).resolve()):
        home = path.parent.parent
        if path.parent.name == "bin" and home not in (Path("/"), Path.home()):
            prefixes += [] if str(path).startswith(system) else [str(home)]
    return tuple(prefixes)
