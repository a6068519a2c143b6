"""Optional parts of a game: features, move ordering, defaults, tables, heuristic functions."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from games.base.schema import KeyValues
from games.base.text import GameError


class Part(NamedTuple):
    """What a part is for, the file of the pack that holds it, the contents of that file.

    Without `contents` there is nothing to advise: only games of one sort have the part.
    `in_one_file` is what a user's file of rules would have to define instead.
    """

    purpose: str
    file: str
    contents: str
    in_one_file: str


PARTS: Mapping[str, Part] = {
    "features": Part(
        "weights and evaluations by weighted features",
        "features.py",
        "a function (rules, position) for each name in FEATURES of the pack, TERM and progress",
        'FEATURES = ("name", ...) and a function name(rules, s) for each',
    ),
    "move_ordering": Part(
        "greedy and solved endgames",
        "move_ordering.py",
        "gain, remaining, urgency, promising and others",
        "gain(rules, s, child, same) and remaining(rules, s)",
    ),
    "hole_beans": Part(
        "policies that look at holes", "hole_beans.py", "", "hole_beans(rules, s, slot)"
    ),
    "defaults": Part(
        "smart",
        "defaults.toml",
        "the table [weights] and an endgame threshold",
        'DEFAULTS = {"weights": {"name": number, ...}}',
    ),
    "tables": Part(
        "weights that are learned for tables",
        "tables/__init__.py",
        "TABLES, a module for each name",
        "",
    ),
    "heuristic_functions": Part(
        "heuristics in words of the board",
        "heuristic_functions.py",
        "a function (rules, position, ...) for each name in BOARD_WORDS of the pack",
        "",
    ),
    "words": Part("better words for people", "words.py", "WORDS", "WORDS"),
}


class MissingPart(GameError):  # noqa: N818  # what is wrong, as in IllegalMove
    """Something needs a part that the game's pack does not have."""

    def __init__(self, name: str, role: str, remedy: str) -> None:
        """`remedy` says what to write where, if anything."""
        self.remedy = remedy
        message = f"{name} has no {role}, needed for {PARTS[role].purpose}"
        super().__init__(f"{message}: {remedy}" if remedy else message)


class Defaults(NamedTuple):
    """The best weights, those of the classroom, and how much is left when endgames are solved."""

    weights: Mapping[str, object]  # as the pack writes them, unchecked
    classroom: Mapping[str, object]
    endgame: int | None
    learned: Mapping[str, Path]  # files of weights that were learned, by the name of the game
    probcut: Mapping[str, KeyValues]  # errors of shallow searches, by the same


def package_of(family_name: str) -> str:
    """The pack of a state's module: the package around it that builds games."""
    package = family_name.rpartition(".")[0]
    while not hasattr(import_module(package), "build"):
        package = package.rpartition(".")[0]
    return package


def is_users(package: str) -> bool:
    """Whether the pack is a user's file, which holds all its parts itself."""
    return hasattr(import_module(package), "State")


def has(package: str, role: str) -> bool:
    """Whether the pack has this part, which is not loaded."""
    if role == "defaults":
        own = is_users(package)
        return (
            hasattr(import_module(package), "DEFAULTS") if own else defaults_file(package).is_file()
        )
    return find_spec(f"{package}.{role}") is not None


def part(package: str, role: str, name: str) -> ModuleType:
    """The module of this part, loaded; MissingPart if the pack of the game `name` has none."""
    if not has(package, role):
        raise missing(package, role, name)
    return import_module(f"{package}.{role}")


def missing(package: str, role: str, name: str) -> MissingPart:
    """The error for a part that the game `name` does not have."""
    _, file, contents, in_one_file = PARTS[role]
    if is_users(package):
        return MissingPart(name, role, f"define {in_one_file} in the game's file")
    path = f"{package.replace('.', '/')}/{file}"
    return MissingPart(name, role, f"write {path} with {contents}" if contents else "")


def features(package: str, name: str) -> tuple[str, ...]:
    """The names of the pack's features, in order; MissingPart if it has none."""
    if not has(package, "features"):
        raise missing(package, "features", name)
    return tuple(import_module(package).FEATURES)


def board_words(package: str) -> tuple[str, ...]:
    """The words of the pack for heuristics and bots, in order; none if it has none."""
    return tuple(getattr(import_module(package), "BOARD_WORDS", ()))


def defaults_file(package: str) -> Path:
    """The file of a pack's default weights."""
    return Path(str(import_module(package).__file__)).with_name("defaults.toml")


@cache
def defaults(package: str, name: str) -> Defaults:
    """The pack's default weights and threshold; MissingPart if it has none."""
    if not has(package, "defaults"):
        raise missing(package, "defaults", name)
    tables = getattr(import_module(package), "DEFAULTS", None)
    if tables is None:
        tables = tomllib.loads(defaults_file(package).read_text())
    learned = {of: defaults_file(package).parent / file for of, file in
               tables.get("learned", {}).items()}  # fmt: skip
    return Defaults(
        tables["weights"], tables.get("classroom", {}), tables.get("endgame"), learned,
        tables.get("probcut", {}),
    )  # fmt: skip
