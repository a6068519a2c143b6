"""Othello: standard and adjacent rules, boards from 4x4 to 16x16."""

from collections.abc import Sequence

from games.core import Game
from games.othello.notation import OthelloNotation
from games.othello.rules import BITBOARD_SIZE, read_rules, rules_name

FEATURES = (
    "disc",
    "mobility",
    "potential_mobility",
    "corner",
    "edge",
    "danger",
)
# Functions of `heuristic_functions.py` that users may call.
HEURISTIC_FUNCTIONS = (
    "size",
    "square",
    "disc_at",
    "flipped",
    "neighbours",
    "empty_neighbours",
    "edge_distance",
    "empties",
    "frontier",
    "stable",
    "is_stable",
)


def build(preset: str, arguments: Sequence[str]) -> Game:
    """Return the game of a name with its `arguments`; raise a GameError that names the problem."""
    rules = read_rules(preset, arguments)
    family = f"games.othello.{'bitboard' if rules.size <= BITBOARD_SIZE else 'wide_board'}"
    name = rules_name(preset, rules)
    notation = OthelloNotation(name, rules, family)
    return Game(name, rules, family, notation, pass_move=rules.cells)
