"""Optional parts of a game: features, move ordering, defaults, tables, heuristic functions."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Annotated, NamedTuple

from games.base.schema import KeyValues
from games.base.text import GameError

USER_PACKAGE = "own_game_"  # packages of users' game files have names with this prefix
# Marks arguments and results of heuristic functions that a bot's view translates.
PrintedNumber = Annotated[int, "as printed on the board"]


class Part(NamedTuple):
    """The purpose of a part, its file in the package, and the contents of that file.

    `in_one_file` tells what to define in a user's game file instead. Empty texts mean that the
    part exists only for some games, so no advice is given.
    """

    purpose: str
    file: str
    contents: str
    in_one_file: str


PARTS: Mapping[str, Part] = {
    "features": Part(
        "weights and evaluations by weighted features",
        "features.py",
        "a function (rules, position) for each name in FEATURES of the package, TERM and progress",
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
        "weights of learned tables",
        "tables/__init__.py",
        "TABLES, a module for each name",
        "",
    ),
    "heuristic_functions": Part(
        "heuristic functions in evaluations",
        "heuristic_functions.py",
        "a function (rules, position, ...) for each name in HEURISTIC_FUNCTIONS of the package",
        "",
    ),
}


class MissingPart(GameError):  # noqa: N818  # named like IllegalMove
    """A part that is needed but missing in the game's package."""

    def __init__(self, name: str, role: str, remedy: str) -> None:
        """`remedy` tells the user what to write; it may be empty."""
        self.remedy = remedy
        message = f"{name} has no {role}, needed for {PARTS[role].purpose}"
        super().__init__(f"{message}: {remedy}" if remedy else message)


class Defaults(NamedTuple):
    """The default weights, classroom weights and endgame threshold of a package."""

    weights: Mapping[str, object]  # as in the file, not validated
    classroom: Mapping[str, object]
    endgame: int | None
    learned: Mapping[str, Path]  # files of learned weights, by the name of the game
    probcut: Mapping[str, KeyValues]  # errors of shallow searches, by the name of the game


def package_of(family_name: str) -> str:
    """Return the package of a state family."""
    return family_name.rpartition(".")[0]


def is_users(package: str) -> bool:
    """Return whether the package is a user's game file, which contains all parts of its game."""
    return package.startswith(USER_PACKAGE)


def has_part(package: str, role: str) -> bool:
    """Return whether the package has this part, without loading it."""
    if role == "defaults":
        if is_users(package):
            return hasattr(import_module(package), "DEFAULTS")
        return defaults_file(package).is_file()
    return find_spec(f"{package}.{role}") is not None


def load_part(package: str, role: str, name: str) -> ModuleType:
    """Load the module of this part; raise MissingPart if the game `name` lacks it."""
    if not has_part(package, role):
        raise missing_part(package, role, name)
    return import_module(f"{package}.{role}")


def missing_part(package: str, role: str, name: str) -> MissingPart:
    """Return the error for a part that the game `name` lacks."""
    _, file, contents, in_one_file = PARTS[role]
    if is_users(package):
        return MissingPart(name, role, f"define {in_one_file} in the game file")
    path = f"{package.replace('.', '/')}/{file}"
    return MissingPart(name, role, f"write {path} with {contents}" if contents else "")


def features(package: str, name: str) -> tuple[str, ...]:
    """Return the names of the package's features, in order; raise MissingPart if it has none."""
    if not has_part(package, "features"):
        raise missing_part(package, "features", name)
    return tuple(import_module(package).FEATURES)


def heuristic_function_names(package: str) -> tuple[str, ...]:
    """Return the names of functions for evaluations and bots, in order."""
    return tuple(getattr(import_module(package), "HEURISTIC_FUNCTIONS", ()))


def defaults_file(package: str) -> Path:
    """Return the file of a package's default weights."""
    return Path(str(import_module(package).__file__)).with_name("defaults.toml")


@cache
def load_defaults(package: str, name: str) -> Defaults:
    """Return the default weights and threshold; raise MissingPart if there are none."""
    if not has_part(package, "defaults"):
        raise missing_part(package, "defaults", name)
    tables = getattr(import_module(package), "DEFAULTS", None)
    if tables is None:
        tables = tomllib.loads(defaults_file(package).read_text())
    directory = defaults_file(package).parent
    learned = {game: directory / file for game, file in tables.get("learned", {}).items()}
    return Defaults(
        tables["weights"], tables.get("classroom", {}), tables.get("endgame"), learned,
        tables.get("probcut", {}),
    )  # fmt: skip
