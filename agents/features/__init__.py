"""Named numbers about positions, one file per game; which names a game's weights may use."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import games
from games import Game

PACKS = Path(games.__file__).parent

# Features that mean nothing under some rules.
NEEDS: Mapping[str, Any] = {
    "extra_turn": lambda rules: rules.extra_turn != "no",
    "capture": lambda rules: rules.capture != "none",
}


def features_of(family_name: str) -> str:
    """The name of the features file for games of this family: the game's own package."""
    return family_name.split(".")[1]


@cache
def listed_features(file: str) -> tuple[str, ...]:
    """The names in a file's FEATURES, in order; read as text, so that no compiler is loaded."""
    for node in ast.parse((PACKS / file / "features.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FEATURES":
            names = node.value.elts if isinstance(node.value, ast.Tuple) else []
            return tuple(ast.unparse(name) for name in names)
    raise LookupError(f"games/{file}/features.py has no tuple FEATURES")


def all_features(of: Game) -> tuple[str, ...]:
    """Every feature of the game's file; a weight stands at its place in this order."""
    return listed_features(features_of(of.family_name))


def feature_names(of: Game) -> tuple[str, ...]:
    """The features that mean something under the rules of this very game."""
    return tuple(name for name in all_features(of) if name not in NEEDS or NEEDS[name](of.rules))
