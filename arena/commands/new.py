"""The command `pitflip new`."""

import argparse
import re
import shlex
from pathlib import Path
from textwrap import fill

from arena.config.shipped import (
    BOTS,
    STARTERS,
    Template,
    example_names,
    verbs_of,
    write_bot,
    write_starter,
)
from games.base.cli import shell_command
from games.base.errors import OK, UserError, print_lines
from games.base.text import listed, quote

EPILOG = f"""\
examples:
  pitflip new bot my_bot.py
  pitflip new bot my_bot.js
  pitflip new experiment --like othello_heuristics
A Python bot, a heuristic and a game come with an experiment that plays them.
Experiments for --like:
{fill(listed(example_names()), 78, initial_indent="  ", subsequent_indent="  ")}"""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.add_argument("what", choices=tuple(STARTERS), metavar="WHAT", help=listed(STARTERS))
    parser.add_argument("name", nargs="?", metavar="NAME", help="the name of the new file")
    parser.add_argument("--like", metavar="NAME", help="the shipped experiment to copy")
    parser.add_argument(
        "--language",
        choices=tuple(BOTS),
        metavar="LANGUAGE",
        help=f"of a bot: {listed(BOTS)} (default: that of the file's ending); lines is Python "
        "with the line protocol",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files and print what to do with them."""
    path = Path(arguments.name or f"my_{arguments.what}")
    for option, owner in (("like", "experiment"), ("language", "bot")):
        if getattr(arguments, option) is not None and arguments.what != owner:
            raise UserError(f"--{option} is for: pitflip new {owner}")
    if not NAME.fullmatch(path.stem):
        raise UserError(f"a name has letters, digits, _ and -, got {quote(path.stem)}")
    plain = path.suffix in ("", ".py", ".toml") and arguments.language in (None, "python")
    if arguments.what == "bot" and not plain:
        write_bot(path, arguments.language)
        print_lines(f"wrote {path}", *bot_lines(path))
        return OK
    starter = STARTERS[arguments.what]
    if arguments.like is not None:
        starter = Template(arguments.like.removesuffix(".toml"))
    name = path.stem if path.suffix in (".py", ".toml") else path.name
    files = write_starter(starter, name, path.parent)
    experiment = path.parent / f"{name}.toml"
    verbs = verbs_of(experiment.read_text())
    print_lines(
        *(f"wrote {each}" for each in files),
        *(bot_lines(path.parent / f"{name}.py") if arguments.what == "bot" else ()),
        *(f"to {verb}: {command_line(f'pitflip {verb}', experiment)}" for verb in verbs),
    )
    return OK


def bot_lines(path: Path) -> tuple[str, str]:
    """Return how to check a bot and how to play against it."""
    opponent = path if path.parent.name else f"./{path}"
    play = 'pitflip play "kalah(6,4)" --second'
    return (
        f"to check: {command_line('pitflip check', path)}",
        f"to play: {command_line(play, opponent)}",
    )


def command_line(command: str, file: Path | str) -> str:
    """Return a command on a file for the user's shell."""
    return shell_command(f"{command} {shlex.quote(str(file))}")
