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
# Words for heuristics and bots, each a function in `heuristic_functions.py`.
BOARD_WORDS = (
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
    """The game of a name with its `arguments`; a GameError names what is wrong with them."""
    rules = read_rules(preset, arguments)
    family = f"games.othello.{'bitboard' if rules.size <= BITBOARD_SIZE else 'wide_board'}"
    name = rules_name(preset, rules)
    notation = OthelloNotation(name, rules, family)
    return Game(name, rules, family, notation, pass_move=rules.cells)
