"""Agents of an experiment file: their tables read into specs, with every problem named."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents import AGENTS, AgentSpec, SpecError, check_spec
from agents.core import Weights
from agents.evaluations.weight_files import checked_weights, read_weights
from agents.user_files import split_reference
from arena.concluding.checks.claims import ALL, BEATS
from arena.reading.file_tables import AgentTable, fitting
from arena.reading.problems import Problems
from arena.reading.toml_lines import Place
from games import Game, game
from games.names import quoted, shown

ANY_GAME = "kalah"  # every kind plays it
LONGEST_NAME = 40


class Around(NamedTuple):
    """What an agent's table is read with; `of` is `None` if the game is not known."""

    of: Game | None
    directory: Path  # of the experiment file
    problems: Problems


def read_agents(written: Mapping[str, Any], around: Around) -> dict[str, AgentSpec]:
    """The specs by name, in the order of the file."""
    specs = {}
    for name, table in written.items():
        place = ("agents", name)
        if not usable_name(name):
            told = (
                f"an agent cannot be called {quoted(name)}: names have 1 to {LONGEST_NAME} "
                f'printable characters, are not "{ALL}" and hold no "{BEATS}"'
            )
            around.problems.say(place, told)
        if (agent := fitting(AgentTable, table)) is not None:
            specs[name] = spec_of(agent, place, around)
    return specs


def usable_name(name: str) -> bool:
    """Whether checks and tables can name an agent so."""
    plain = name.isprintable() and name.strip() == name and 0 < len(name) <= LONGEST_NAME
    return plain and name != ALL and BEATS not in name


def spec_of(table: AgentTable, place: Place, around: Around) -> AgentSpec:
    """The spec of one agent's table; where there are problems it is only a part of it."""
    option_problems(table, place, around)
    said = table.model_dump(exclude={"weights"})
    for key, default in (("file", "choose"), ("evaluate", "evaluate")):
        if said[key] is not None and key in options_of(table.kind):
            found = found_file(said[key], default, around.directory)
            if found is None:
                around.problems.say((*place, key), missing_file(said[key]))
            said[key] = ":".join(map(str, found)) if found else None
    return AgentSpec(**said, weights=weights_of(table, said["evaluate"], place, around))


def option_problems(table: AgentTable, place: Place, around: Around) -> None:
    """Name an unknown kind, options that the kind does not have, numbers out of range."""
    kind, problems = table.kind, around.problems
    if "kind" not in table.model_fields_set:
        return
    if kind == "human":
        told = "human agents do not play in experiments; a person plays with python -m arena.play"
        problems.say((*place, "kind"), told)
        return
    for key in (key for key in AgentTable.model_fields if key in table.model_fields_set):
        # One option at a time, so that each problem gets its own line.
        value = {} if key == "kind" else {key: getattr(table, key)}
        if key == "weights":
            value = {key: {"any": (1.0,)}}
        if "evaluate" in options_of(kind):  # decides what the game's pack must have
            value.setdefault("evaluate", table.evaluate)
        try:
            check_spec(AgentSpec(kind, **value), around.of or game(ANY_GAME))
        except SpecError as error:
            problems.say((*place, key), str(error))
            if key == "kind":
                return
    if kind == "python" and table.file is None:
        problems.say((*place, "file"), 'file is missing, as in file = "bots/mine.py"')


def weights_of(table: AgentTable, evaluate: str | None, place: Place, around: Around) -> Weights:
    """The weights, each as one number a phase, from the table or the file that it names."""
    at = (*place, "weights")
    if table.weights is None or "weights" not in options_of(table.kind):
        return {}
    given, prefix = table.weights, ""
    if isinstance(given, str):
        given, prefix = weights_file(given, at, around), f"{given}: "
    if not isinstance(given, dict):
        told = f'weights must be a table or a file like "weights/mine.toml", got {shown(given)}'
        around.problems.say(at, told)
        return {}
    if table.evaluate is None:
        known = around.of.features if around.of else None
    else:
        known = declared_weights(evaluate) if evaluate else None
    weights: dict[str, tuple[float, ...]] = {}
    for name, value in given.items():
        try:
            weights |= checked_weights({name: value}, [name] if known is None else known)
        except SpecError as error:
            around.problems.say((*at, name), f"{prefix}{error}", place if prefix else at)
    return weights


def options_of(kind: str) -> Sequence[str]:
    """The options of a kind; of an unknown one, those that can be checked without it."""
    return AGENTS[kind].options if kind in AGENTS else ("weights", "evaluate", "file")


def weights_file(name: str, at: Place, around: Around) -> dict[str, Any]:
    """The weights in a file; none if it cannot be read, which is said."""
    found = found_file(name, "", around.directory)
    if found is None:
        around.problems.say(at, missing_file(name))
        return {}
    try:
        return read_weights(found[0])
    except ValueError as error:  # SpecError, or bytes that are no text
        around.problems.say(at, str(error))
        return {}


def found_file(written: str, default: str, directory: Path) -> tuple[Path, str] | None:
    """The file of `bots/mine.py:name`, absolute: beside the experiment, else from here."""
    for base in (directory, Path()):
        try:
            path, name = split_reference(str(base / Path(written).expanduser()), default)
            if path.is_file():
                return path, name
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return None
    return None


def missing_file(written: str) -> str:
    """That a file is neither beside the experiment nor in the working directory."""
    return f"there is no file {quoted(written)} beside the experiment or in the working directory"


def declared_weights(evaluate: str) -> tuple[str, ...] | None:
    """The names in the `WEIGHTS = {...}` of a user's file, read as text; `None` if not plain."""
    path = split_reference(evaluate, "evaluate")[0]
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return None  # the agent's own failure, told when it is built
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "WEIGHTS":
            keys = node.value.keys if isinstance(node.value, ast.Dict) else [None]
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            return tuple(map(str, names)) if len(names) == len(keys) else None
    return None
