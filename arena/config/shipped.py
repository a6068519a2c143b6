"""The shipped experiments, and starter files made from them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.languages import LANGUAGES
from games.base.errors import UserError
from games.base.files import parsed_toml, write_text
from games.base.text import did_you_mean, listed, quote

HOME = Path(__file__).parents[2]
PLACES = (HOME / "experiments", HOME / "arena" / "shipped_experiments")  # a clone's; installed
SCHEMA = "experiment.schema.json"  # for editors, written by tools.reference
REFERENCED_FILE = re.compile(r'"((?:bots|games|weights)/[^":]+)')  # files named in an experiment


@dataclass(frozen=True, slots=True)
class Template:
    """A shipped experiment, and the file in it that the user is going to change, if any."""

    experiment: str
    file: str = ""


STARTERS: Mapping[str, Template] = {
    "experiment": Template("smart_vs_bad"),
    "bot": Template("own_bot", "bots/my_bot.py"),
    "heuristic": Template("own_heuristic", "bots/my_heuristic.py"),
    "game": Template("connect4", "games/connect4.py"),
}

# A language of a bot -> the shipped bot that a new one is a copy of.
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
    return next((place for place in PLACES if place.is_dir()), PLACES[0])


def schema_line(directory: Path) -> str:
    """Return the first line of an experiment file, which names the JSON Schema for editors."""
    places = (HOME / "docs" / SCHEMA, HOME / "arena" / SCHEMA)
    path = next((place for place in places if place.is_file()), places[0])
    return f"#:schema {Path(os.path.relpath(path, directory.absolute())).as_posix()}\n"


def example_names() -> list[str]:
    """Return the names of the shipped experiments."""
    return sorted(path.stem for path in examples_directory().glob("*.toml"))


def verbs_of(experiment: str) -> list[str]:
    """Return the commands for an experiment file, given its text: run, tune or learn."""
    tables = parsed_toml(experiment)
    others = [verb for verb in ("tune", "learn") if verb in tables]
    plays = not others or "pairs" in tables or "checks" in tables
    return ["run"] * plays + others


def write_starter(starter: Template, name: str, directory: Path) -> list[Path]:
    """Write an experiment `name`.toml and the files that it names; return all paths."""
    found = examples_directory() / f"{starter.experiment}.toml"
    if not found.is_file():
        near = did_you_mean(starter.experiment, example_names())
        raise UserError(f"no shipped experiment is called {quote(starter.experiment)}{near}; there "
                      f"are {listed(example_names())}")  # fmt: skip
    text, files = found.read_text(), {}
    for named in sorted(set(REFERENCED_FILE.findall(text))):
        own = f"{name}.py" if named == starter.file else named
        text = text.replace(f'"{named}', f'"{own}')
        files[directory / own] = (examples_directory() / named).read_text()
    text = schema_line(directory) + text
    files[directory / f"{name}.toml"] = text.replace(f"experiments/{found.name}", f"{name}.toml")
    for path, content in files.items():
        # Existing files with the same content, such as a helper of a second game, are kept.
        if path.exists() and path.read_text(errors="replace") != content:
            raise UserError(f"{path} is there already; nothing was written")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, content)
    return list(files)


def write_bot(path: Path, language: str | None) -> None:
    """Write a bot in a language, else in that of the file's ending."""
    if language is None:
        found = LANGUAGES.get(path.suffix.lower())
        language = found.name if found else ""
    if language not in BOTS:
        raise UserError(
            f"there is no starter in the language of {quote(path.name)}: say --language "
            f"({listed(BOTS)})"
        )
    shipped = examples_directory() / "bots" / BOTS[language]
    if path.suffix.lower() != shipped.suffix:
        raise UserError(f"a file of {language} ends in {shipped.suffix}, got {quote(path.name)}")
    if path.exists():
        raise UserError(f"{path} is there already; nothing was written")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, rename_identifier(shipped.read_text(), shipped.stem, path.stem))


def rename_identifier(text: str, old: str, new: str) -> str:
    """Return the text with another name in place of an identifier."""
    name = re.sub(r"\W", "_", new)
    return re.sub(rf"\b{old}\b", f"_{name}" if name[0].isdigit() else name, text)
