"""The command `pitflip`, also `python -m pitflip`."""

import signal
import sys
from importlib.metadata import version
from pathlib import Path

from arena import prepare_process

prepare_process()

import shtab

from arena.commands.command import COMMANDS, GROUPS, parser_settings, run_command
from arena.commands.command import module_of as command_module
from games.base.cli import CommandParser
from games.base.errors import OK, USER_ERROR, print_error, print_safely, status_of
from games.base.removed import REMOVED_COMMANDS
from games.base.text import did_you_mean, listed, quote

HELP = ("-h", "--help", "help")
VERSION = ("-V", "--version", "version")
COMPLETION = "--print-completion"


def main(words: list[str] | None = None) -> int:
    """Run the command that the first word names; return its exit status."""
    given = sys.argv[1:] if words is None else words
    return status_of("pitflip", lambda: run(given))


def run(words: list[str]) -> int:
    """Answer one of the general options, or run a command."""
    if len(words) > 1 and words[0] == "help":
        words = [words[1], "--help"]
    if not words or words[0] in HELP:
        show(help_text())
        return OK if words else USER_ERROR
    verb, rest = words[0], words[1:]
    if verb in VERSION:
        show(f"pitflip {version('pitflip')}")
        return OK
    if verb == COMPLETION:
        return print_completion(rest)
    if verb in REMOVED_COMMANDS:
        print_error(f"pitflip: the command {verb} was removed: {REMOVED_COMMANDS[verb]}")
        return USER_ERROR
    if verb not in COMMANDS:
        near = did_you_mean(verb, COMMANDS)
        print_error(f"pitflip: there is no command {quote(verb)} ({listed(COMMANDS)}){near}")
        return USER_ERROR
    if not COMMANDS[verb].resumable:
        stop_at_once()
    return run_command(verb, rest)


def show(text: str) -> None:
    """Print a text; a closed pipe is no error."""
    print_safely(lambda: print(text))


def help_text() -> str:
    """Return the commands by group, each with its summary."""
    lines = ["usage: pitflip COMMAND ...", ""]
    for group in GROUPS:
        for verb, command in COMMANDS.items():
            if command.group == group:
                first = "" if any(line.startswith(group) for line in lines) else group
                lines.append(f"{first:<9}{verb:<8} {command.summary}")
    lines += [
        "",
        "pitflip help COMMAND   options and examples of a command",
        "pitflip --version      version",
        f"pitflip {COMPLETION} {'|'.join(shtab.SUPPORTED_SHELLS)}",
        "Without the script: python -m pitflip COMMAND.",
    ]
    return "\n".join(lines)


def stop_at_once() -> None:
    """Let Ctrl-C and a closed pipe end the process: short commands store nothing on the way."""
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):  # Windows has no SIGPIPE
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def all_parsers() -> CommandParser:
    """Return one parser with all commands."""
    parser = CommandParser(prog="pitflip", description="Play bots against each other.")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(parser_class=CommandParser)
    for verb, command in COMMANDS.items():
        own = commands.add_parser(verb, help=command.summary, **parser_settings(verb))  # type: ignore[arg-type]
        command_module(verb).add_arguments(own)
        for action in own._actions:  # argparse has no public list of them
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # as shtab reads it
    return parser


def print_completion(words: list[str]) -> int:
    """Print the completion script for a shell."""
    shells = shtab.SUPPORTED_SHELLS
    if len(words) != 1 or words[0] not in shells:
        got = quote(" ".join(words)) if words else "nothing"
        print_error(f"pitflip {COMPLETION}: name a shell, one of {listed(shells)}, got {got}")
        return USER_ERROR
    show(shtab.complete(all_parsers(), words[0]))
    return OK


if __name__ == "__main__":
    sys.exit(main())
