"""Write a starter file."""

import argparse
import re
import shlex
from pathlib import Path

from arena.config.shipped import STARTERS, Template, begin, example_names, verbs_of
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_lines, run, status_of
from games.base.text import listed, quote

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip new"),
        description="Write an experiment, a bot, a heuristic or a game that runs at once.",
        epilog=f"shipped experiments: {listed(example_names())}",
    )
    parser.add_argument("what", choices=STARTERS, help=listed(STARTERS))
    parser.add_argument("name", nargs="?", help="of the new file; else my_bot and the like")
    parser.add_argument("--like", metavar="NAME", help="another shipped experiment (smart_vs_bad)")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a file is there already."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip new", lambda: begun(chosen))


def begun(chosen: argparse.Namespace) -> int:
    """Write the files and say what to do with them; the exit status."""
    starter = STARTERS[chosen.what]
    if chosen.like is not None:
        if starter.file:
            raise UserError("--like is for an experiment")
        starter = Template(chosen.like.removesuffix(".toml"))
    place = Path(chosen.name or f"my_{chosen.what}")
    name = place.stem if place.suffix in (".py", ".toml") else place.name
    if not NAME.fullmatch(name):
        raise UserError(f"a name has letters, digits, _ and -, got {quote(name)}")
    files = begin(starter, name, place.parent)
    experiment = place.parent / f"{name}.toml"
    commands = {
        verb: shell_command(shlex.join(["python", "-m", f"arena.{verb}", str(experiment)]))
        for verb in verbs_of(experiment.read_text())
    }
    print_lines(
        *(f"wrote {path}" for path in files),
        *(f"to {verb}: {command}" for verb, command in commands.items()),
    )
    return OK


if __name__ == "__main__":
    run(main)
