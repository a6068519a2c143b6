"""Kalah and Owari: sowing games with parameters."""

from collections.abc import Callable, Mapping, Sequence

from games.core import Game
from games.sowing.notation import SowingNotation
from games.sowing.rules import PACKED_HOLES, SowingRules, read_rules, rules_name

FEATURES = (
    "pot",
    "in_play",
    "extra_turn",
    "capture",
    "mobility",
    "far",
    "given_away",
)
# Functions of `heuristic_functions.py` that users may call.
HEURISTIC_FUNCTIONS = (
    "holes",
    "hole",
    "empty",
    "facing",
    "near_pot",
    "distance",
    "last_lands_in",
    "ends_in_pot",
    "captures",
    "gives_away",
)
# Features that are meaningful only under some rules.
FEATURE_NEEDS: Mapping[str, Callable[[SowingRules], bool]] = {
    "extra_turn": lambda rules: rules.extra_turn != "no",
    "capture": lambda rules: rules.capture != "none",
}


def build(preset: str, arguments: Sequence[str]) -> Game:
    """Return the game of a preset and its `arguments`; a GameError names the problem."""
    rules = read_rules(preset, arguments)
    family = family_name(rules)
    name = rules_name(preset, rules)
    notation = SowingNotation(name, rules, family)
    swap = rules.holes if rules.swap == "yes" else None
    return Game(name, rules, family, notation, swap_move=swap)


def family_name(rules: SowingRules) -> str:
    """Return the smallest state family that can hold the game."""
    if rules.holes > PACKED_HOLES:
        return "games.sowing.wide"
    return "games.sowing.phased" if rules.has_phases else "games.sowing.packed"
