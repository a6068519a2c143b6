"""The table of agent kinds, and the declarations of a kind."""

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agents.core import Agent, AgentSpec, Options, SpecError
from agents.evaluation.weights import (
    load_learned_weights,
    read_declared_weights,
    read_learned_weights,
    validate_weights,
)
from agents.languages import source_tree
from agents.protocols import PROTOCOLS
from agents.user_files import is_user_path, program_home, replace_path, split_reference
from games import Game
from games.base.file_trees import FileTree
from games.base.files import InputTooLarge
from games.base.schema import Key, table_problems
from games.base.text import did_you_mean, join_names

Reason = Callable[[Options], str | None]  # from the options of a spec
# Creates a sandboxed agent from a spec, a game and `HostSettings`.
HostBot = Callable[[AgentSpec, Game, Any], Agent]
# The randomness reason of kinds that run unknown code.
EXTERNAL = "its answers cannot be predicted"
OptionProblem = tuple[tuple[str, ...], str]  # the option or (option, weight), and the message
# The Kind of each name: a value in a module, or a function that returns it for a name.
AGENTS: Mapping[str, str] = {
    "random": "agents.kinds.simple:RANDOM",
    "first": "agents.kinds.simple:FIRST",
    "last": "agents.kinds.simple:FIRST",
    "nearest_pot": "agents.kinds.simple:NEAREST_POT",
    "fewest": "agents.kinds.simple:FEWEST",
    "greedy": "agents.kinds.simple:GREEDY",
    "minimax": "agents.kinds.minimax:KIND",
    "alphabeta": "agents.kinds.alphabeta:KIND",
    "smart": "agents.kinds.alphabeta:SMART",
    "smart_classic": "agents.kinds.alphabeta:SMART_CLASSIC",
    "mcts": "agents.kinds.mcts:KIND",
    "perfect": "agents.kinds.perfect:KIND",
    "human": "agents.kinds.human:KIND",
    "python": "agents.kinds.python:KIND",
    **dict.fromkeys(PROTOCOLS, "agents.kinds.program:kind"),
}


def nothing(*_: object) -> None:
    """Return None: the default of the optional declarations of a kind."""


@dataclass(frozen=True, slots=True)
class Kind:
    """An agent kind; only `build` is required."""

    build: Callable[[AgentSpec, Game], Agent]
    options: tuple[Key, ...] = ()
    needs: tuple[str, ...] = ()  # parts that a game must have
    randomness_reason: Reason = nothing  # why answers may vary
    user_code_reason: Reason = nothing  # the user's code that it runs
    host_bot: HostBot | None = None  # None: `build` runs in the sandbox
    refusal: Callable[[Game], str | None] = nothing  # why it refuses a game
    # An option without effect in a game, and the reason.
    ineffective_option: Callable[[Options, Game], tuple[str, str] | None] = nothing
    summary: str = ""  # for the reference page; empty: the docstring of `build`

    def option(self, name: str) -> Key | None:
        """Return the option with this name, or None."""
        return next((key for key in self.options if key.name == name), None)

    @property
    def required_options(self) -> tuple[str, ...]:
        """The names of the required options."""
        return tuple(key.name for key in self.options if key.required)

    def missing_parts(self, options: Collection[str], game: Game) -> list[str]:
        """Return the parts that an agent with these options needs but the game lacks."""
        replaced = {part for key in self.options if key.name in options for part in key.replaces}
        return [part for part in self.needs if part not in replaced and not game.has_part(part)]


def option_values(options: tuple[Key, ...], spec: AgentSpec, game: Game) -> Options:
    """Return the value of every option: from the spec, or else the default if it applies."""
    values = dict(spec.options)
    for key in options:
        if key.name not in values:
            applies = all(values.get(name) is None for name in key.default_unless)
            default = key.default if applies else None
            values[key.name] = default(game) if callable(default) else default
    return values


def spec_problems(kind: Kind, spec: AgentSpec, game: Game | None) -> Iterator[OptionProblem]:
    """Yield every problem with the options of a spec; `game` is None for an unknown game."""
    for place, message in table_problems(spec.options, kind.options):
        yield (str(place[0]),), message
    yield from weight_problems(kind, spec.options, game)


def normalize(
    kind: Kind, spec: AgentSpec, game: Game | None, keep: Collection[str] = ()
) -> AgentSpec:
    """Return the canonical form of a valid spec: equal agents have equal specs.

    An option without an effect on the settings is removed, unless the game is unknown or `keep`
    names it.
    """
    for key in kind.options:
        value = spec.options.get(key.name)
        if value is None:
            continue
        if key.type == "float":
            spec = spec.replace(**{key.name: float(value)})
        elif key.type == "weights" and not isinstance(value, str):
            spec = spec.replace(**{key.name: validate_weights(value, list(value))})
        shorter = spec.replace(**{key.name: None})
        if (
            game
            and key.name not in keep
            and option_values(kind.options, shorter, game)
            == option_values(kind.options, spec, game)
        ):
            spec = shorter
    return spec


def weight_problems(kind: Kind, options: Options, game: Game | None) -> Iterator[OptionProblem]:
    """Yield every problem with weights, given as a table or as a file."""
    for name in (key.name for key in kind.options if key.type == "weights"):
        weights, known = options.get(name), weight_names(options, game)
        if isinstance(weights, str) and (problem := weight_file_problem(weights, options, game)):
            yield (name,), problem
        for weight, value in weights.items() if isinstance(weights, Mapping) else ():
            try:
                validate_weights({weight: value}, [weight] if known is None else known)
            except SpecError as error:
                yield (name, weight), str(error)


def weight_file_problem(path: str, options: Options, game: Game | None) -> str | None:
    """Return why an agent cannot use a file of learned tables, or None."""
    if options.get("evaluate"):
        return (
            f"{path}: these weights are for learned tables, which your own evaluation does not use"
        )
    try:
        if game is None:
            read_learned_weights(Path(path))
        else:
            load_learned_weights(Path(path), game)
    except SpecError as error:
        return str(error)
    return None


def weight_names(options: Options, game: Game | None) -> Sequence[str] | None:
    """Return the valid names of weights; None if only running a user's file would tell them."""
    if evaluate := options.get("evaluate"):
        declared = read_declared_weights(evaluate)
        return None if declared is None else tuple(declared)
    return game.features if game else None


def kind_of(spec: AgentSpec | str) -> Kind:
    """Return the Kind of a spec or of a name."""
    name = spec if isinstance(spec, str) else spec.kind
    if name not in AGENTS:
        raise SpecError(
            f'there is no agent kind "{name}" (there are {join_names(AGENTS)})'
            f"{did_you_mean(name, AGENTS)}"
        )
    return _load_kind(name)


@cache
def _load_kind(kind_name: str) -> Kind:
    module, _, name = AGENTS[kind_name].partition(":")
    entry = getattr(importlib.import_module(module), name)
    kind: Kind = entry if isinstance(entry, Kind) else entry(kind_name)
    return kind


def kinds_for(game: Game) -> tuple[str, ...]:
    """Return the kinds that play this game, with suitable options."""
    kinds = {name: kind_of(name) for name in AGENTS}
    return tuple(
        name for name, k in kinds.items() if not (k.missing_parts((), game) or k.refusal(game))
    )


def kind_problem(name: str, options: Collection[str], game: Game | None) -> str | None:
    """Return why no agent of this kind can be built for this game, or None."""
    try:
        kind = kind_of(name)
    except SpecError as error:
        return str(error)
    if game is None:
        return None
    if refusal := kind.refusal(game):
        return refusal
    for part in kind.missing_parts(options, game):
        playing = [other for other in kinds_for(game) if not kind_of(other).required_options]
        refusal = f"{name} does not play {game.name} (play it with {join_names(playing)})"
        instead = "".join(f"set {key.name}, or " for key in kind.options if part in key.replaces)
        remedy = game.missing_part(part).remedy
        return f"{refusal}: {instead}{remedy}" if remedy else refusal
    return None


def require_kind(spec: AgentSpec, game: Game) -> Kind:
    """Return the kind of a spec; SpecError unless it describes an agent for this game."""
    if message := kind_problem(spec.kind, spec.options, game):
        raise SpecError(message)
    kind = kind_of(spec)
    for _, message in spec_problems(kind, spec, game):
        raise SpecError(message)
    return kind


def build(spec: AgentSpec, game: Game) -> Agent:
    """Build the agent in this process, including a user's code.

    For users that are not trusted, use `agents.create.create_agent`.
    """
    return require_kind(spec, game).build(spec, game)


def randomness_reason(spec: AgentSpec) -> str | None:
    """Return why the agent may answer the same position differently, or None."""
    return kind_of(spec).randomness_reason(spec.options)


def is_external(spec: AgentSpec) -> bool:
    """Return whether the agent is a bot or a person whose answers cannot be predicted."""
    return randomness_reason(spec) == EXTERNAL


def is_search(spec: AgentSpec) -> bool:
    """Return whether the agent is a built-in search, which limits itself."""
    return kind_of(spec).option("nodes") is not None and kind_of(spec).host_bot is None


def user_code_reason(spec: AgentSpec) -> str | None:
    """Return which code of a user the agent runs and for what, or None."""
    return kind_of(spec).user_code_reason(spec.options)


def user_paths(spec: AgentSpec) -> tuple[Path, ...]:
    """Return the absolute paths of the users' files and directories in the spec."""
    paths: list[Path] = []
    for option in kind_of(spec).options:
        value = spec.options.get(option.name)
        if value is None:
            continue
        if option.type == "weights" and isinstance(value, str):
            paths.append(Path(value))
        elif option.type == "file":
            paths.append(split_reference(value, option.default_function)[0])
        elif option.type == "command":
            paths += [*_existing_paths(value), *program_home(value)]
        elif option.type in ("path", "paths"):
            paths += _existing_paths([value] if isinstance(value, str) else value)
    return tuple(dict.fromkeys(paths))


def _existing_paths(words: Iterable[str]) -> list[Path]:
    return [Path(word) for word in words if is_user_path(word) and Path(word).exists()]


def user_trees(spec: AgentSpec) -> tuple[FileTree, ...]:
    """Return all files of users that affect the agent's moves, as trees."""
    try:
        return tuple(source_tree(path) for path in user_paths(spec))
    except InputTooLarge as error:
        raise SpecError(str(error)) from None


def user_files(spec: AgentSpec) -> tuple[Path, ...]:
    """Return the absolute paths of the users' files that affect the agent's moves."""
    files = (path for tree in user_trees(spec) for path in tree.files.values())
    return tuple(dict.fromkeys(files))


def replace_files(spec: AgentSpec, place: Callable[[str], str]) -> AgentSpec:
    """Return the spec with every path of a user's file replaced by `place`."""
    changed: dict[str, object] = {}
    for option in kind_of(spec).options:
        value = spec.options.get(option.name)
        if value is None:
            continue
        if option.type == "file" or (option.type == "weights" and isinstance(value, str)):
            changed[option.name] = place(value)
        elif option.type == "path":
            changed[option.name] = replace_path(value, place)
        elif option.type in ("command", "paths"):
            changed[option.name] = [replace_path(word, place) for word in value]
    return spec.replace(**changed)
