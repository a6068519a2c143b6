"""The table of commands, and how one is parsed and run.

Commands import heavy modules inside functions, so that --help and error messages are printed at
once.
"""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from types import ModuleType
from typing import NamedTuple

from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, run_command
from games.base.progress import show_silence


class Command(NamedTuple):
    """A command of `arena/commands`; `group` is where `pitflip --help` lists it.

    A resumable command handles Ctrl-C itself, and the same command continues its work. `converses`
    is set for commands that need no sign of life: they print at once or wait for somebody.
    """

    group: str
    summary: str
    resumable: bool = False
    converses: bool = False


COMMANDS: Mapping[str, Command] = {
    "run": Command(
        "play", "play the games of an experiment file and print the results", resumable=True
    ),
    "match": Command("play", "play two agents against each other, without a file", resumable=True),
    "versus": Command(
        "play", "test whether an agent beats its earlier revisions in git", resumable=True
    ),
    "play": Command("play", "play a game yourself, in the browser or the terminal", converses=True),
    "tune": Command("improve", "search for better weights of an agent", resumable=True),
    "learn": Command("improve", "learn the weights of an agent from its games", resumable=True),
    "new": Command(
        "bots", "write a starter file: an experiment, bot, heuristic or game", converses=True
    ),
    "check": Command("bots", "test a bot and list its faults", converses=True),
    "serve": Command("bots", "connect an agent to another program by a protocol", converses=True),
    "report": Command("results", "write the web page, figures and bot reports of a run"),
    "export": Command("results", "write a run as PGN, CSV, LaTeX and other formats"),
    "rate": Command("results", "compute Elo ratings from the games in any files"),
    "verify": Command(
        "results", "play the games of a run again and compare the results", resumable=True
    ),
    "judge": Command("results", "compare the moves of a run with perfect play", resumable=True),
    "runs": Command("results", "list, follow, compare or delete stored runs", converses=True),
    "class": Command("bots", "play the bots of a class and publish the standings", resumable=True),
    "game": Command(
        "games", "print rules; replay, count, solve or explain positions", converses=True
    ),
}
GROUPS = tuple(dict.fromkeys(each.group for each in COMMANDS.values()))


def load_command(verb: str) -> ModuleType:
    """Import the module of a command.

    It has `add_arguments(parser)`, `run(arguments)`, EPILOG and, for shared options, PARENTS.
    """
    return import_module(f"arena.commands.{verb}{'_' * iskeyword(verb)}")


def parser_settings(verb: str) -> dict[str, object]:
    """Return the arguments of a command's parser, without its name."""
    module, summary = load_command(verb), COMMANDS[verb].summary
    return {
        "description": f"{summary[0].upper()}{summary[1:]}.",
        "epilog": module.EPILOG,
        "parents": getattr(module, "PARENTS", ()),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def make_parser(verb: str) -> CommandParser:
    """Return the parser of a command."""
    settings = parser_settings(verb)
    parser = CommandParser(prog=f"pitflip {verb}", **settings)
    load_command(verb).add_arguments(parser)
    return parser


def run_verb(verb: str, words: Sequence[str] | None = None) -> int:
    """Parse the arguments, run the command and return its exit status."""
    try:
        arguments = make_parser(verb).parse_args(words)
    except SystemExit as end:  # after --help or an error message
        return int(end.code or OK)
    module, name, silent = load_command(verb), f"pitflip {verb}", COMMANDS[verb].converses
    silent = silent or any(getattr(arguments, word, False) for word in ("quiet", "json"))

    def work() -> int:
        with show_silence(name, silent):
            status: int = module.run(arguments)
            return status

    experiment = getattr(arguments, "experiment", None)
    place = str(experiment) if COMMANDS[verb].resumable and experiment else ""
    if not COMMANDS[verb].resumable:
        return run_command(name, work, place=place)
    given = sys.argv[1:] if words is None else words
    again = shell_command(shlex.join(["pitflip", verb, *(w for w in given if w != "--fresh")]))
    if getattr(arguments, "dry_run", False):
        again = ""
    interrupts = arguments.interrupts = Interrupts()
    with interrupts.handle_signals():
        return run_command(name, work, again, place)
