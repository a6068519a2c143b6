"""The table of agent kinds, and what a kind declares."""

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agents.core import (
    Agent,
    AgentSpec,
    Options,
    SpecError,
)
from agents.evaluation.learned_weights import learned_for, read_learned
from agents.evaluation.weights import checked_weights, declared_weights
from agents.languages import source_tree
from agents.protocols import PROTOCOLS
from agents.user_files import is_user_path, own_home, replace_path, split_reference
from games import Game
from games.base.file_trees import FileTree
from games.base.files import InputTooLarge
from games.base.schema import Key, table_faults
from games.base.text import did_you_mean, listed

Reason = Callable[[Options], str | None]  # of the options that a spec sets
# Creates a sandboxed agent from a spec, a game and `HostSettings` (of a module above this one).
Behind = Callable[[AgentSpec, Game, Any], Agent]
# Why a kind varies whose code is not ours and may do anything.
EXTERNAL = "its answers are known only by asking it"
Fault = tuple[tuple[str, ...], str]  # the option, or the option and the weight; the line
# A module with `build`, and what else `agents.kinds.Kind` lists; or a Kind in a module, or what
# gives the Kind of a name.
AGENTS: Mapping[str, str] = {
    "random": "agents.kinds.simple:RANDOM",
    "first": "agents.kinds.simple:FIRST",
    "last": "agents.kinds.simple:FIRST",
    "nearest_pot": "agents.kinds.simple:NEAREST_POT",
    "fewest": "agents.kinds.simple:FEWEST",
    "greedy": "agents.kinds.simple:GREEDY",
    "minimax": "agents.kinds.minimax",
    "alphabeta": "agents.kinds.alphabeta",
    "smart": "agents.kinds.alphabeta:SMART",
    "smart_classic": "agents.kinds.alphabeta:SMART_CLASSIC",
    "perfect": "agents.kinds.perfect",
    "human": "agents.kinds.human",
    "python": "agents.kinds.python",
    **dict.fromkeys(PROTOCOLS, "agents.kinds.program:kind"),
}


def no_reason(_: Options) -> str | None:
    """The answer of a kind that declares nothing: it never varies, it runs our code only."""
    return None


def no_refusal(_: Game) -> str | None:
    """The answer of a kind that plays every game whose pack has what it needs."""
    return None


def no_ineffective_option(_: Options, __: Game) -> tuple[str, str] | None:
    """The answer of a kind whose options make sense in every game."""
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What the name of a kind refers to; everything but `build` may be left out."""

    build: Callable[[AgentSpec, Game], Agent]
    options: tuple[Key, ...] = ()
    needs: tuple[str, ...] = ()  # parts of a game's pack without which it cannot play
    varies: Reason = no_reason  # why it may answer the same position differently
    users_code: Reason = no_reason  # which code of a user's runs in it
    behind: Behind | None = None  # None: its `build` runs behind the wall where a user's code does
    refusal: Callable[[Game], str | None] = no_refusal  # why it does not play a game
    # An option that has no effect in a game, with the reason.
    unfit: Callable[[Options, Game], tuple[str, str] | None] = no_ineffective_option
    summary: str = ""  # for its reference page; empty: the first line of the docstring of `build`

    def option(self, name: str) -> Key | None:
        """The option of this name, if the kind has it."""
        return next((each for each in self.options if each.name == name), None)

    @property
    def required(self) -> tuple[str, ...]:
        """The options without which there is no agent."""
        return tuple(each.name for each in self.options if each.required)

    def missing(self, options: Collection[str], of: Game) -> list[str]:
        """The parts that an agent with these options needs and the game's pack does not have."""
        replaced = {part for each in self.options if each.name in options for part in each.replaces}
        return [part for part in self.needs if part not in replaced and not of.has(part)]


def option_values(options: tuple[Key, ...], spec: AgentSpec, of: Game) -> Options:
    """The value of every option: the spec's, else the default where it holds, else None."""
    values = dict(spec.options)
    for each in options:
        if each.name not in values:
            holds = all(values.get(name) is None for name in each.beside)
            default = each.default if holds else None
            values[each.name] = default(of) if callable(default) else default
    return values


def faults(kind: Kind, spec: AgentSpec, of: Game | None) -> Iterator[Fault]:
    """Everything wrong with the options of a spec; `of` is None if the game is not known."""
    for place, message in table_faults(spec.options, kind.options):
        yield (str(place[0]),), message
    yield from weight_problems(kind, spec.options, of)


def normalize(kind: Kind, spec: AgentSpec, of: Game | None) -> AgentSpec:
    """The one form of a spec without faults: what means the same is written the same.

    An option that changes no setting is left out, unless the game is not known.
    """
    for each in kind.options:
        value = spec.options.get(each.name)
        if value is None:
            continue
        if each.type == "float":
            spec = spec.replace(**{each.name: float(value)})
        elif each.type == "weights" and not isinstance(value, str):
            spec = spec.replace(**{each.name: checked_weights(value, list(value))})
        shorter = spec.replace(**{each.name: None})
        if of and option_values(kind.options, shorter, of) == option_values(kind.options, spec, of):
            spec = shorter
    return spec


def weight_problems(kind: Kind, options: Options, of: Game | None) -> Iterator[Fault]:
    """Everything wrong with weights, whether they are a table or a file of learned ones."""
    for name in (each.name for each in kind.options if each.type == "weights"):
        weights, known = options.get(name), weight_names(options, of)
        if isinstance(weights, str) and (fault := learned_weights_problem(weights, options, of)):
            yield (name,), fault
        for weight, value in weights.items() if isinstance(weights, Mapping) else ():
            try:
                checked_weights({weight: value}, [weight] if known is None else known)
            except SpecError as error:
                yield (name, weight), str(error)


def learned_weights_problem(path: str, options: Options, of: Game | None) -> str | None:
    """Why an agent cannot play by a file of learned tables; None if it can."""
    if options.get("evaluate"):
        return f"{path}: these weights are for tables, an evaluation of your own has none"
    try:
        if of is None:
            read_learned(Path(path))
        else:
            learned_for(Path(path), of)
    except SpecError as error:
        return str(error)
    return None


def weight_names(options: Options, of: Game | None) -> Sequence[str] | None:
    """The names that weights may have; None if only running the user's file could tell."""
    if evaluate := options.get("evaluate"):
        declared = declared_weights(evaluate)
        return None if declared is None else tuple(declared)
    return of.features if of else None


def kind_of(spec: AgentSpec | str) -> Kind:
    """The Kind that a spec, or the name of a kind, refers to."""
    name = spec if isinstance(spec, str) else spec.kind
    if name not in AGENTS:
        raise SpecError(
            f'there is no agent kind "{name}" (there are {listed(AGENTS)})'
            f"{did_you_mean(name, AGENTS)}"
        )
    return _kind(name)


@cache
def _kind(of_name: str) -> Kind:
    path, _, name = AGENTS[of_name].partition(":")
    module = importlib.import_module(path)
    if name:
        found = getattr(module, name)
        kind: Kind = found if isinstance(found, Kind) else found(of_name)
        return kind
    return Kind(
        module.build,
        getattr(module, "OPTIONS", ()),
        getattr(module, "NEEDS", ()),
        getattr(module, "varies", no_reason),
        getattr(module, "users_code", no_reason),
        getattr(module, "behind", None),
        unfit=getattr(module, "unfit", no_ineffective_option),
    )


def kinds_for(of: Game) -> tuple[str, ...]:
    """The kinds that play this game, whatever their options."""
    kinds = {name: kind_of(name) for name in AGENTS}
    return tuple(name for name, k in kinds.items() if not (k.missing((), of) or k.refusal(of)))


def kind_problem(name: str, options: Collection[str], of: Game | None) -> str | None:
    """Why no agent of this kind can be built, for this game if it is known; None if one can."""
    try:
        kind = kind_of(name)
    except SpecError as error:
        return str(error)
    if of is None:
        return None
    if refusal := kind.refusal(of):
        return refusal
    for part in kind.missing(options, of):
        free = [each for each in kinds_for(of) if not kind_of(each).required]
        refusal = f"{name} does not play {of.name} (play it with {listed(free)})"
        instead = "".join(f"set {each.name}, or " for each in kind.options if part in each.replaces)
        remedy = of.missing(part).remedy
        return f"{refusal}: {instead}{remedy}" if remedy else refusal
    return None


def require_kind(spec: AgentSpec, of: Game) -> Kind:
    """The kind of a spec that describes an agent for this game; SpecError if it describes none."""
    if message := kind_problem(spec.kind, spec.options, of):
        raise SpecError(message)
    kind = kind_of(spec)
    for _, message in faults(kind, spec, of):
        raise SpecError(message)
    return kind


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent that the spec describes, for this game, in this process: a user's code too.

    `agents.door` is the way to an agent whose user is not trusted.
    """
    return require_kind(spec, of).build(spec, of)


def varies(spec: AgentSpec) -> str | None:
    """Why the agent may answer the same position differently; None if it never does."""
    return kind_of(spec).varies(spec.options)


def is_external(spec: AgentSpec) -> bool:
    """Whether its answers are known only by asking: it is a bot, or a person."""
    return varies(spec) == EXTERNAL


def is_search(spec: AgentSpec) -> bool:
    """Whether the agent is a search of ours, which has its own limits."""
    return kind_of(spec).option("nodes") is not None and kind_of(spec).behind is None


def users_code(spec: AgentSpec) -> str | None:
    """Which code of a user's runs when the agent plays; None if none does."""
    return kind_of(spec).users_code(spec.options)


def users_paths(spec: AgentSpec) -> tuple[Path, ...]:
    """Return the absolute paths of the users' files and directories that the spec names."""
    found: list[Path] = []
    for option in kind_of(spec).options:
        value = spec.options.get(option.name)
        if value is None:
            continue
        if option.type == "weights" and isinstance(value, str):
            found.append(Path(value))
        elif option.type == "file":
            found.append(split_reference(value, option.entry)[0])
        elif option.type == "command":
            found += [*_existing(value), *own_home(value)]
        elif option.type in ("path", "paths"):
            found += _existing([value] if isinstance(value, str) else value)
    return tuple(dict.fromkeys(found))


def _existing(words: Iterable[str]) -> list[Path]:
    return [Path(word) for word in words if is_user_path(word) and Path(word).exists()]


def users_trees(spec: AgentSpec) -> tuple[FileTree, ...]:
    """Return all of the users' own that decides the agent's moves: what it imports and can read."""
    try:
        return tuple(source_tree(path) for path in users_paths(spec))
    except InputTooLarge as error:
        raise SpecError(str(error)) from None


def user_files(spec: AgentSpec) -> tuple[Path, ...]:
    """Return the absolute paths of the users' files that decide the agent's moves."""
    files = (path for tree in users_trees(spec) for path in tree.files.values())
    return tuple(dict.fromkeys(files))


def replace_files(spec: AgentSpec, place: Callable[[str], str]) -> AgentSpec:
    """The spec with every reference to a user's file rewritten by `place`."""
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
