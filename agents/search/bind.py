"""Bind searches, features and move ordering to one state family."""

import importlib
from collections.abc import Mapping
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from agents.evaluation.features import TERMS, bind_weighted_sum
from agents.search import alphabeta, choose, game_loop, minimax, move_ordering
from agents.search.table import bind_table_key
from games.kernels.bits import PYTHON_TWINS
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.jit import (
    Kernel,
    Scope,
    family_kernels,
    inline_copies,
    python_function,
    specialise,
)
from games.parts import (
    features,
    has_part,
    heuristic_function_names,
    is_users,
    load_part,
    package_of,
)
from games.user_games.load import copy_function, inner_code

MOVE_NAMES = ("remaining", "gain", "urgency", "promising", "others", "hole_beans")
MOVE_NUMBERS = ("SORTED_FROM", "FINISH_FROM")


def part_functions(family_name: str, role: str) -> Scope:
    """Return the names in a part of the family's package; empty without that part."""
    package = package_of(family_name)
    return vars(load_part(package, role, package)) if has_part(package, role) else {}


def move_ordering_names(family_name: str) -> Scope:
    """Return the move-ordering names of the family, with defaults where it has none."""
    known = vars(move_ordering) | part_functions(family_name, "hole_beans")
    return known | part_functions(family_name, "move_ordering")


def family_names(family_name: str) -> Scope:
    """Return every name that kernels and features may use, bound to this family."""
    family, known = importlib.import_module(family_name), move_ordering_names(family_name)
    cell_functions = getattr(family, "CELL_FUNCTIONS", ())  # a user's family has none
    names: Scope = {name: getattr(family, name) for name in cell_functions}
    names |= {name: known[name] for name in MOVE_NUMBERS}
    names |= {name: getattr(family, name) for name in FAMILY_NAMES}
    names["key"] = bind_table_key(family)
    return names | inline_copies([known[name] for name in MOVE_NAMES], names)


def feature_names(family_name: str) -> tuple[str, ...]:
    """Return the names of the family's features."""
    package = package_of(family_name)
    return features(package, package) if has_part(package, "features") else ()


@cache
def bind_features(family_name: str) -> Scope:
    """Return the features and their helpers, bound to this family."""
    names, module = family_names(family_name), part_functions(family_name, "features")
    templates = [module[name] for name in feature_names(family_name)]
    names |= _cache_copies(family_name, "feature", [*module.get("HELPERS", ()), *templates], names)
    return names | inline_copies([module.get("progress", move_ordering.progress)], names)


@cache
def bind_heuristics(family_name: str) -> Scope:
    """Return the heuristic functions and their helpers, bound to this family."""
    names, module = bind_features(family_name), part_functions(family_name, "heuristic_functions")
    templates = [module[name] for name in heuristic_function_names(package_of(family_name))]
    templates = [*module.get("HEURISTIC_HELPERS", ()), *templates]
    return names | _cache_copies(family_name, "word", templates, names)


def _cache_copies(family_name: str, what: str, parts: list[Kernel], names: Scope) -> Scope:
    """Return copies that are cached on disk, because each process compiles evaluations again."""
    if is_users(package_of(family_name)):  # users' code is not cached on disk
        return inline_copies(parts, names)
    suffix = f"{importlib.import_module(family_name).FAMILY}_{what}"
    return inline_copies(parts, _without_defaults(names), suffix)


def _without_defaults(names: Scope) -> Scope:
    """Return the names without defaults, which the compile cache of the family does not cover."""
    defaults = move_ordering.__name__
    return {name: v for name, v in names.items() if getattr(v, "__module__", "") != defaults}


@cache
def callable_features(family_name: str) -> Scope:
    """Return the features for calls from Python, compiled once and cached on disk."""
    names = bind_features(family_name)
    own_features = feature_names(family_name)
    if not own_features or is_users(package_of(family_name)):  # users' code is not cached on disk
        return names
    templates = [python_function(names[name]) for name in (*own_features, "progress")]
    suffix = f"{importlib.import_module(family_name).FAMILY}_called"
    return names | vars(specialise(suffix, templates, **_without_defaults(names)))


def bind_evaluation(family_name: str, names: Scope) -> Kernel:
    """Return the evaluation by weighted features."""
    kernels = [names[name] for name in feature_names(family_name)]
    term, to_score = TERMS[part_functions(family_name, "features").get("TERM", "difference")]
    return bind_weighted_sum(kernels, term, to_score, names["progress"], names["turned"])


def search_kernels(family_name: str) -> SimpleNamespace:
    """Return the compiled `choose`, `play_games` and searches of a family."""
    return family_kernels(family_name, bind_searches)


def bind_searches(family: ModuleType) -> SimpleNamespace:
    """Compile the kernels of `agent_kernels` for the module of a family."""
    names = bind_features(family.__name__)
    names = names | {"evaluate": bind_evaluation(family.__name__, names)}
    for kernels in (alphabeta, minimax, choose, game_loop):
        names |= inline_copies(getattr(kernels, "INLINED", ()), names)
        names |= vars(specialise(family.FAMILY, kernels.COMPILED, kernels.INTERNAL, **names))
    return SimpleNamespace(**names)


@cache
def plain_heuristics(family_name: str) -> Mapping[str, Kernel]:
    """Return every heuristic function and feature of the family as plain functions."""
    names = bind_heuristics(family_name)
    copies: dict[object, object] = dict(PYTHON_TWINS)
    wanted = (*heuristic_function_names(package_of(family_name)), *feature_names(family_name))
    # Compiled words wrap around silently.
    quiet = np.errstate(over="ignore")
    return {name: quiet(interpret(names[name], copies)) for name in wanted}


def interpret(function: Kernel, copies: dict[object, object]) -> FunctionType:
    """Return a copy for the Python interpreter; the kernels that it calls are copied too."""
    plain: FunctionType = python_function(function)
    if plain not in copies:
        scope = dict(plain.__globals__)
        copies[plain] = copy_function(plain, scope)
        for name in {word for code in inner_code(plain.__code__) for word in code.co_names}:
            value = scope.get(name)
            if value in copies if callable(value) else False:
                scope[name] = copies[value]
            elif value is not None and python_function(value) is not value:
                scope[name] = interpret(value, copies)
    return copies[plain]  # type: ignore[return-value]  # the values are functions
