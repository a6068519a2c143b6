"""The command `pitflip`, also `python -m pitflip`."""

import signal
import sys
from importlib.metadata import version
from pathlib import Path

from arena import prepare_process

prepare_process()

import shtab

from arena.commands.registry import COMMANDS, GROUPS, parser_settings, run_verb
from arena.commands.registry import load_command as command_module
from games.base.cli import CommandParser
from games.base.errors import OK, USER_ERROR, print_error, print_safely, run_command
from games.base.removed import REMOVED_COMMANDS
from games.base.text import did_you_mean, join_names, quote

HELP = ("-h", "--help", "help")
VERSION = ("-V", "--version", "version")
COMPLETION = "--print-completion"


def main(words: list[str] | None = None) -> int:
    """Run the command that `words` name, by default those of the command line."""
    given = sys.argv[1:] if words is None else words
    return run_command("pitflip", lambda: run(given))


def run(words: list[str]) -> int:
    """Print help, the version or a completion script, or run a command."""
    if len(words) > 1 and words[0] == "help":
        words = [words[1], "--help"]
    if not words or words[0] in HELP:
        print_text(help_text())
        return OK if words else USER_ERROR
    verb, rest = words[0], words[1:]
    if verb in VERSION:
        print_text(f"pitflip {version('pitflip')}")
        return OK
    if verb == COMPLETION:
        return print_completion(rest)
    if verb in REMOVED_COMMANDS:
        print_error(f"pitflip: the command {verb} was removed: {REMOVED_COMMANDS[verb]}")
        return USER_ERROR
    if verb not in COMMANDS:
        near = did_you_mean(verb, COMMANDS)
        print_error(f"pitflip: there is no command {quote(verb)} ({join_names(COMMANDS)}){near}")
        return USER_ERROR
    if not COMMANDS[verb].resumable:
        stop_at_once()
    return run_verb(verb, rest)


def print_text(text: str) -> None:
    """Print a text; a closed pipe is not an error."""
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
        "pitflip --version      print the version",
        f"pitflip {COMPLETION} {'|'.join(shtab.SUPPORTED_SHELLS)}",
        "If your shell does not find pitflip: python -m pitflip COMMAND",
    ]
    return "\n".join(lines)


def stop_at_once() -> None:
    """Let Ctrl-C and a closed pipe end the process: short commands have no state to save."""
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
        print_error(f"pitflip {COMPLETION}: name a shell, one of {join_names(shells)}, got {got}")
        return USER_ERROR
    print_text(shtab.complete(all_parsers(), words[0]))
    return OK


if __name__ == "__main__":
    sys.exit(main())
