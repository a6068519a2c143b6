"""The table of commands, and how one is parsed and run."""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, status_of


class Command(NamedTuple):
    """A command of `arena/commands`; `group` is where `pitflip --help` lists it.

    A resumable command handles Ctrl-C itself, and the same command continues its work.
    """

    group: str
    summary: str
    resumable: bool = False


COMMANDS: Mapping[str, Command] = {
    "run": Command("play", "play an experiment and print its results", resumable=True),
    "match": Command("play", "play two agents without an experiment file", resumable=True),
    "versus": Command("play", "compare an agent with its earlier revisions", resumable=True),
    "play": Command("play", "play a game yourself in the terminal"),
    "tune": Command("improve", "tune the weights of an agent", resumable=True),
    "learn": Command("improve", "learn weights from games; show and compare them", resumable=True),
    "new": Command("bots", "write a starter experiment, bot, heuristic or game"),
    "check": Command("bots", "test a bot and report what is wrong with it"),
    "serve": Command("bots", "let an agent play in another program"),
    "report": Command("results", "write the page, figures and bot reports of a run"),
    "export": Command("results", "write the games and tables of a run in other formats"),
    "rate": Command("results", "rate agents from the games in any files"),
    "verify": Command("results", "replay the games of a run and compare", resumable=True),
    "judge": Command("results", "measure move losses against perfect play", resumable=True),
    "runs": Command("results", "list, follow, compare and delete runs"),
    "ladder": Command("results", "place new agents in a permanent ladder", resumable=True),
    "game": Command("games", "show rules, replay, count, solve or explain positions"),
}
GROUPS = tuple(dict.fromkeys(each.group for each in COMMANDS.values()))


def module_of(verb: str) -> ModuleType:
    """Import the module of a command.

    It has `add_arguments(parser)`, `run(arguments)`, EPILOG and, for shared options, PARENTS.
    """
    return import_module(f"arena.commands.{verb}")


def parser_settings(verb: str) -> dict[str, object]:
    """Return what the parser of a command is made with, the program's name aside."""
    module = module_of(verb)
    return {
        "description": f"{COMMANDS[verb].summary.capitalize()}.",
        "epilog": module.EPILOG,
        "parents": getattr(module, "PARENTS", ()),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def make_parser(verb: str) -> CommandParser:
    """Return the parser of a command."""
    settings = parser_settings(verb)
    parser = CommandParser(prog=f"pitflip {verb}", **settings)  # type: ignore[arg-type]
    module_of(verb).add_arguments(parser)
    return parser


def run_command(verb: str, words: Sequence[str] | None = None) -> int:
    """Parse the arguments, run the command and return its exit status."""
    try:
        arguments = make_parser(verb).parse_args(words)
    except SystemExit as end:  # after --help, or a mistake that is printed
        return int(end.code or OK)
    module, name = module_of(verb), f"pitflip {verb}"
    experiment = getattr(arguments, "experiment", None)
    place = str(experiment) if COMMANDS[verb].resumable and experiment else ""
    if not COMMANDS[verb].resumable:
        return status_of(name, lambda: module.run(arguments), place=place)
    given = sys.argv[1:] if words is None else words
    again = shell_command(shlex.join(["pitflip", verb, *(w for w in given if w != "--fresh")]))
    if getattr(arguments, "dry_run", False):
        again = ""
    interrupts = arguments.interrupts = Interrupts()
    with interrupts.installed():
        return status_of(name, lambda: module.run(arguments), again, place)
