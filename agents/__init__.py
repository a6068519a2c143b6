"""Agents choose moves: the table of their kinds, by which a spec becomes an agent."""

import _signal  # type: ignore[import-not-found]  # as in `arena`: `signal` takes time to load
import sys

_AS_COMMAND = sys.argv[:1] == ["-m"] and any(word.startswith("agents.") for word in sys.orig_argv)
if _AS_COMMAND and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # a short command: Ctrl-C ends it at once

import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from agents.core import (
    Agent,
    AgentFailure,
    AgentSpec,
    Choice,
    Follower,
    GameOver,
    Limit,
    Resigned,
    SpecError,
)
from agents.kinds import UNKNOWN, Kind, all_fit, none
from agents.languages import source_tree
from agents.protocols import PROTOCOLS
from agents.spec_faults import faults
from agents.user_files import is_users, own_home, placed, split_reference
from games import Game
from games.file_trees import FileTree
from games.limited_files import TooMuch
from games.names import did_you_mean, listed
from games.shell_commands import refuse_no_command

__all__ = [
    "AGENTS",
    "Agent",
    "AgentFailure",
    "AgentSpec",
    "Choice",
    "Follower",
    "GameOver",
    "Limit",
    "Resigned",
    "SpecError",
    "build",
    "checked_kind",
    "kind_of",
    "kinds_for",
    "outside",
    "searches",
    "users_code",
    "users_files",
    "users_paths",
    "users_trees",
    "varies",
    "with_files",
]

# A module with `build`, and what else `agents.kinds.Kind` lists; or a Kind in a module, or what
# gives the Kind of a name.
AGENTS: Mapping[str, str] = {
    "random": "agents.simple:RANDOM",
    "first": "agents.simple:FIRST",
    "last": "agents.simple:FIRST",
    "nearest_pot": "agents.simple:NEAREST_POT",
    "fewest": "agents.simple:FEWEST",
    "greedy": "agents.simple:GREEDY",
    "minimax": "agents.minimax",
    "alphabeta": "agents.alphabeta",
    "smart": "agents.alphabeta:SMART",
    "smart_classic": "agents.alphabeta:SMART_CLASSIC",
    "perfect": "agents.perfect",
    "human": "agents.human",
    "python": "agents.python",
    **dict.fromkeys(PROTOCOLS, "agents.programs:kind"),
}


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
        getattr(module, "varies", none),
        getattr(module, "users_code", none),
        getattr(module, "behind", None),
        unfit=getattr(module, "unfit", all_fit),
    )


def kinds_for(of: Game) -> tuple[str, ...]:
    """The kinds that play this game, whatever their options."""
    kinds = {name: kind_of(name) for name in AGENTS}
    return tuple(name for name, k in kinds.items() if not (k.missing((), of) or k.refusal(of)))


def kind_fault(name: str, options: Collection[str], of: Game | None) -> str | None:
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


def checked_kind(spec: AgentSpec, of: Game) -> Kind:
    """The kind of a spec that describes an agent for this game; SpecError if it describes none."""
    if message := kind_fault(spec.kind, spec.options, of):
        raise SpecError(message)
    kind = kind_of(spec)
    for _, message in faults(kind, spec, of):
        raise SpecError(message)
    return kind


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent that the spec describes, for this game, in this process: a user's code too.

    `agents.door` is the way to an agent whose user is not trusted.
    """
    return checked_kind(spec, of).build(spec, of)


def varies(spec: AgentSpec) -> str | None:
    """Why the agent may answer the same position differently; None if it never does."""
    return kind_of(spec).varies(spec.options)


def outside(spec: AgentSpec) -> bool:
    """Whether its answers are known only by asking: it is a bot, or a person."""
    return varies(spec) == UNKNOWN


def searches(spec: AgentSpec) -> bool:
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
    return [Path(word) for word in words if is_users(word) and Path(word).exists()]


def users_trees(spec: AgentSpec) -> tuple[FileTree, ...]:
    """Return all of the users' own that decides the agent's moves: what it imports and can read."""
    try:
        return tuple(source_tree(path) for path in users_paths(spec))
    except TooMuch as error:
        raise SpecError(str(error)) from None


def users_files(spec: AgentSpec) -> tuple[Path, ...]:
    """Return the absolute paths of the users' files that decide the agent's moves."""
    files = (path for tree in users_trees(spec) for path in tree.files.values())
    return tuple(dict.fromkeys(files))


def with_files(spec: AgentSpec, place: Callable[[str], str]) -> AgentSpec:
    """The spec with every reference to a user's file rewritten by `place`."""
    changed: dict[str, object] = {}
    for option in kind_of(spec).options:
        value = spec.options.get(option.name)
        if value is None:
            continue
        if option.type == "file" or (option.type == "weights" and isinstance(value, str)):
            changed[option.name] = place(value)
        elif option.type == "path":
            changed[option.name] = placed(value, place)
        elif option.type in ("command", "paths"):
            changed[option.name] = [placed(word, place) for word in value]
    return spec.changed(**changed)


refuse_no_command("agents")
