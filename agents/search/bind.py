"""Bind searches, features and move ordering to one family."""

import importlib
from collections.abc import Mapping
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from agents.evaluation.features import TERMS, weighted
from agents.search import alphabeta, choose, game_loop, minimax, no_knowledge, policies, root_search
from agents.search.table import table_key
from games.kernels.bits import PLAIN_TWINS
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.jit import Kernel, Scope, bound, inline_copies, specialise, unbound
from games.parts import board_words, features, has, is_users, package_of, part
from games.user_games.load import codes, copied

MOVE_NAMES = ("remaining", "gain", "urgency", "promising", "others", "hole_beans")
MOVE_NUMBERS = ("SORTED_FROM", "FINISH_FROM")


def part_names(family_name: str, role: str) -> Scope:
    """What the part of the family's pack defines; nothing if the pack has no such part."""
    package = package_of(family_name)
    return vars(part(package, role, package)) if has(package, role) else {}


def knowledge_names(family_name: str) -> Scope:
    """The move knowledge of the family's pack; `no_knowledge` where it has none."""
    known = vars(no_knowledge) | part_names(family_name, "hole_beans")
    return known | part_names(family_name, "move_ordering")


def family_names(family_name: str) -> Scope:
    """Every name that kernels and features may use, bound to this family."""
    family, known = importlib.import_module(family_name), knowledge_names(family_name)
    names: Scope = {}
    if read_by := getattr(family, "READ_BY", None):
        cells = importlib.import_module(read_by)
        names = {name: getattr(cells, name) for name in dir(cells) if not name.startswith("_")}
    names |= {name: known[name] for name in MOVE_NUMBERS}
    names |= {name: getattr(family, name) for name in FAMILY_NAMES}
    names["key"] = table_key(family)
    return names | inline_copies([known[name] for name in MOVE_NAMES], names)


def feature_names(family_name: str) -> tuple[str, ...]:
    """The features that the family's pack lists, if any."""
    package = package_of(family_name)
    return features(package, package) if has(package, "features") else ()


@cache
def bound_features(family_name: str) -> Scope:
    """The feature functions, their helpers and what they read, bound to this family."""
    names, module = family_names(family_name), part_names(family_name, "features")
    counted = [module[name] for name in feature_names(family_name)]
    names |= _kept_copies(family_name, "feature", [*module.get("HELPERS", ()), *counted], names)
    return names | inline_copies([module.get("progress", no_knowledge.progress)], names)


@cache
def bound_words(family_name: str) -> Scope:
    """The pack's words for heuristics and bots, bound to this family, and all that they use."""
    names, module = bound_features(family_name), part_names(family_name, "heuristic_functions")
    counted = [module[name] for name in board_words(package_of(family_name))]
    parts = [*module.get("WORD_HELPERS", ()), *counted]
    return names | _kept_copies(family_name, "word", parts, names)


def _kept_copies(family_name: str, what: str, parts: list[Kernel], names: Scope) -> Scope:
    """Copies to be merged into evaluations, which each process compiles anew: these are kept."""
    if is_users(package_of(family_name)):  # what a user's file holds is not kept
        return inline_copies(parts, names)
    suffix = f"{importlib.import_module(family_name).FAMILY}_{what}"
    return inline_copies(parts, _without_lacking(names), suffix)


def _without_lacking(names: Scope) -> Scope:
    """Without what stands for knowledge that a pack lacks: the rules' cache does not see it."""
    lacking = no_knowledge.__name__
    return {name: v for name, v in names.items() if getattr(v, "__module__", "") != lacking}


@cache
def called_features(family_name: str) -> Scope:
    """The same for Python to call: the features are compiled once, and kept on disk."""
    names = bound_features(family_name)
    counted = feature_names(family_name)
    if not counted or is_users(package_of(family_name)):  # what a user's file holds is not kept
        return names
    templates = [unbound(names[name]) for name in (*counted, "progress")]
    suffix = f"{importlib.import_module(family_name).FAMILY}_called"
    return names | vars(specialise(suffix, templates, **_without_lacking(names)))


def make_evaluate(family_name: str, names: Scope) -> Kernel:
    """The evaluation by weighted features; 0 for a pack without any."""
    counted = [names[name] for name in feature_names(family_name)]
    term, whole = TERMS[part_names(family_name, "features").get("TERM", "difference")]
    return weighted(counted, term, whole, names["progress"], names["turned"])


def agent_kernels(family_name: str) -> SimpleNamespace:
    """The compiled `choose`, `play_games` and searches of a family."""
    return bound(family_name, searches)


def searches(family: ModuleType) -> SimpleNamespace:
    """The kernels that `agent_kernels` keeps, compiled for the module of a family."""
    names = bound_features(family.__name__)
    names = names | {"evaluate": make_evaluate(family.__name__, names)}
    for kernels in (alphabeta, minimax, policies, root_search, choose, game_loop):
        names |= inline_copies(getattr(kernels, "INLINED", ()), names)
        names |= vars(specialise(family.FAMILY, kernels.COMPILED, kernels.PASSAGES, **names))
    return SimpleNamespace(**names)


@cache
def interpreted_words(family_name: str) -> Mapping[str, Kernel]:
    """Every word and feature of the family as plain functions, those that they call as well."""
    names = bound_words(family_name)
    made: dict[object, object] = dict(PLAIN_TWINS)
    wanted = (*board_words(package_of(family_name)), *feature_names(family_name))
    # Words wrap around on purpose, as compiled ones do.
    quiet = np.errstate(over="ignore")
    return {name: quiet(interpreted(names[name], made)) for name in wanted}


def interpreted(function: Kernel, made: dict[object, object]) -> FunctionType:
    """A copy that Python runs, and calls copies of the functions of ours that it calls."""
    plain: FunctionType = unbound(function)
    if plain not in made:
        scope = dict(plain.__globals__)
        made[plain] = copied(plain, scope)
        for name in {each for code in codes(plain.__code__) for each in code.co_names}:
            value = scope.get(name)
            if value in made if callable(value) else False:
                scope[name] = made[value]
            elif value is not None and unbound(value) is not value:
                scope[name] = interpreted(value, made)
    return made[plain]  # type: ignore[return-value]  # what is made here are functions
