"""Binding the searches to one family of states: rules, features and move knowledge together."""

import importlib
from collections.abc import Mapping
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

from agents.features import features_of
from agents.kernels import alphabeta_search, choose, minimax_search, whole_games
from agents.kernels.terms import TERMS, weighted
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.jit import inline_copies, specialise

# How the state of a family is read: what features and move knowledge are written in.
CELLS: Mapping[str, str] = {
    "games.sowing.states.packed": "games.sowing.states.packed_cells",
    "games.sowing.states.phased": "games.sowing.states.packed_cells",
    "games.sowing.states.wide_rows": "games.sowing.states.wide_cells",
    "games.othello.states.bitboard": "games.othello.states.word_squares",
    "games.othello.states.wide_board": "games.othello.states.wide_squares",
}
MOVE_NAMES = ("remaining", "gain", "urgency", "promising", "others", "hole_beans")
MOVE_NUMBERS = ("SORTED_FROM", "FINISH_FROM")


def features_module(family_name: str) -> ModuleType:
    """The features that agents weigh in games of this family."""
    return importlib.import_module(f"games.{features_of(family_name)}.features")


def known_moves(family_name: str) -> ModuleType:
    """What is known of moves at first sight in games of this family."""
    return importlib.import_module(f"games.{features_of(family_name)}.knowledge")


def family_names(family_name: str) -> dict[str, Any]:
    """Every name that kernels and features may use, bound to this family."""
    family = importlib.import_module(family_name)
    cells = importlib.import_module(CELLS[family_name])
    knowledge = known_moves(family_name)
    bound = {name: getattr(cells, name) for name in dir(cells) if not name.startswith("_")}
    bound |= {name: getattr(knowledge, name) for name in MOVE_NUMBERS}
    bound |= {name: getattr(family, name) for name in FAMILY_NAMES}
    return bound | inline_copies([getattr(knowledge, name) for name in MOVE_NAMES], bound)


@cache
def bound_features(family_name: str) -> dict[str, Any]:
    """The feature functions, their helpers and what they read, bound to this family."""
    module = features_module(family_name)
    bound = family_names(family_name)
    bound |= inline_copies([*module.HELPERS, *module.FEATURES], bound)
    return bound | inline_copies([module.progress], bound)


def make_evaluate(module: ModuleType, bound: dict[str, Any]) -> Any:
    """The evaluation by weighted features."""
    features = [bound[feature.__name__] for feature in module.FEATURES]

    term, whole = TERMS[module.TERM]
    return weighted(features, term, whole, bound["progress"], bound["turned"])


@cache
def agent_kernels(family_name: str) -> SimpleNamespace:
    """The compiled `choose`, `play_games` and searches of a family."""
    module = features_module(family_name)
    family = importlib.import_module(family_name)
    bound = bound_features(family_name)
    bound = bound | {"evaluate": make_evaluate(module, bound)}
    for part in (alphabeta_search, minimax_search, choose, whole_games):
        bound |= inline_copies(getattr(part, "INLINED", ()), bound)
        bound |= vars(specialise(family.FAMILY, part.COMPILED, **bound))
    return SimpleNamespace(**bound)
