"""The command `pitflip new`: starter files made from the shipped experiments."""

import argparse
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from agents.languages import LANGUAGES
from games.base.cli import shell_command
from games.base.errors import OK, UserError, print_lines
from games.base.files import parse_toml, write_text
from games.base.text import did_you_mean, join_names, quote

HOME = Path(__file__).parents[2]
PLACES = (HOME / "experiments", HOME / "arena" / "shipped_experiments")  # a clone's; installed
SCHEMA = "experiment.schema.json"  # for editors, written by tools.reference
REFERENCED_FILE = re.compile(r'"((?:bots|games|weights)/[^":]+)')  # files named in an experiment


@dataclass(frozen=True, slots=True)
class Template:
    """A shipped experiment, and the file in it that the user will edit, if any."""

    experiment: str
    file: str = ""


STARTERS: Mapping[str, Template] = {
    "experiment": Template("smart_vs_bad"),
    "bot": Template("own_bot", "bots/my_bot.py"),
    "heuristic": Template("own_heuristic", "bots/my_heuristic.py"),
    "game": Template("connect4", "games/connect4.py"),
}

# The shipped bot of each language, which new bots are copies of.
BOTS: Mapping[str, str] = {
    "python": "my_bot.py",
    "lines": "line_bot.py",
    "javascript": "line_bot.js",
    "c": "line_bot.c",
    "java": "LineBot.java",
    "shell": "line_bot.sh",
}


def examples_directory() -> Path:
    """Return the directory of the shipped experiments."""
    return next((path for path in PLACES if path.is_dir()), PLACES[0])


def schema_line(directory: Path) -> str:
    """Return the first line of an experiment file, which names the JSON Schema for editors."""
    places = (HOME / "docs" / SCHEMA, HOME / "arena" / SCHEMA)
    path = next((place for place in places if place.is_file()), places[0])
    return f"#:schema {Path(os.path.relpath(path, directory.absolute())).as_posix()}\n"


def example_names() -> list[str]:
    """Return the names of the shipped experiments."""
    return sorted(path.stem for path in examples_directory().glob("*.toml"))


def experiment_verbs(experiment: str) -> list[str]:
    """Return the commands that read an experiment, given its text: run, tune or learn."""
    tables = parse_toml(experiment)
    others = [verb for verb in ("tune", "learn") if verb in tables]
    plays = not others or "pairs" in tables or "checks" in tables
    return ["run"] * plays + others


def write_starter(starter: Template, name: str, directory: Path) -> list[Path]:
    """Write an experiment `name`.toml and the files that it names; return all paths."""
    found = examples_directory() / f"{starter.experiment}.toml"
    if not found.is_file():
        near = did_you_mean(starter.experiment, example_names())
        raise UserError(f"there is no shipped experiment {quote(starter.experiment)}{near}; there "
                      f"are {join_names(example_names())}")  # fmt: skip
    text, files = found.read_text(), {}
    for named in sorted(set(REFERENCED_FILE.findall(text))):
        own = f"{name}.py" if named == starter.file else named
        text = text.replace(named, own)
        files[directory / own] = (examples_directory() / named).read_text()
    text = schema_line(directory) + text
    files[directory / f"{name}.toml"] = text.replace(f"experiments/{found.name}", f"{name}.toml")
    for path, content in files.items():
        # Existing files with the same content, such as a helper of a second game, are kept.
        if path.exists() and path.read_text(errors="replace") != content:
            raise UserError(f"{path} exists already; nothing was written")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, content)
    return list(files)


def write_bot(path: Path, language: str | None) -> None:
    """Write a bot in a language; None selects it by the file's ending."""
    if language is None:
        found = LANGUAGES.get(path.suffix.lower())
        language = found.name if found else ""
    if language not in BOTS:
        raise UserError(
            f"there is no starter in the language of {quote(path.name)}: choose one with "
            f"--language ({join_names(BOTS)})"
        )
    shipped = examples_directory() / "bots" / BOTS[language]
    if path.suffix.lower() != shipped.suffix:
        raise UserError(
            f"the name of a {language} bot ends in {shipped.suffix}, got {quote(path.name)}"
        )
    if path.exists():
        raise UserError(f"{path} exists already; nothing was written")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, rename_identifier(shipped.read_text(), shipped.stem, path.stem))


def rename_identifier(text: str, old: str, new: str) -> str:
    """Return the text with another name in place of an identifier."""
    name = re.sub(r"\W", "_", new)
    return re.sub(rf"\b{old}\b", f"_{name}" if name[0].isdigit() else name, text)


EPILOG = f"""\
A Python bot, a heuristic and a game come with an experiment that plays them.
Experiments for --like:
{fill(join_names(example_names()), 78, initial_indent="  ", subsequent_indent="  ")}

examples:
  pitflip new bot my_bot.py
  pitflip new bot my_bot.js
  pitflip new experiment --like othello_heuristics"""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("what", choices=tuple(STARTERS), metavar="WHAT", help=join_names(STARTERS))
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the name of the new file (default: my_WHAT)"
    )
    parser.add_argument("--like", metavar="NAME", help="the shipped experiment to copy")
    parser.add_argument(
        "--language",
        choices=tuple(BOTS),
        metavar="LANGUAGE",
        help=f"the language of a bot: {join_names(BOTS)} (default: from the file's ending); "
        "lines is Python with the line protocol",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files and print the commands that use them."""
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
    verbs = experiment_verbs(experiment.read_text())
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
