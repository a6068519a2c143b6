"""Evaluations of positions in plain Python, for comparing searches with their naive twins."""

from collections.abc import Callable, Mapping

from games import Game, Position, game
from tests.agents.naive import features
from tests.games.naive import othello as othello_rules

Weights = Mapping[str, tuple[float, ...]]

# Every feature counts, none like another; some numbers are no whole ones.
SOWING: Weights = {
    "pot": (1.0,),
    "in_play": (0.125,),
    "extra_turn": (0.7,),
    "capture": (0.35,),
    "mobility": (-0.21,),
    "far": (0.05,),
}
OTHELLO: Weights = {
    "disc": (0.5,),
    "mobility": (1.0,),
    "potential_mobility": (0.7,),
    "corner": (3.0,),
    "edge": (0.9,),
    "danger": (1.3,),
}


def is_sowing(of: Game) -> bool:
    return of.pack == "sowing"


def weights_for(of: Game) -> Weights:
    """All weights that mean something in this game."""
    if not is_sowing(of):
        return OTHELLO
    return {k: v for k, v in SOWING.items() if k != "extra_turn" or of.rules.extra_turn != "no"}


def with_phases(weights: Weights) -> Weights:
    """Return the weights with different values in up to three phases."""
    return {
        name: tuple(value * factor for factor in (1.0, 0.5, 2.0)[: 1 + place % 3])
        for place, (name, (value,)) in enumerate(weights.items())
    }


def naive_score(of: Game, weights: Weights) -> Callable[[Position], int]:
    """The evaluation in thousandths, by the naive twins of the features."""
    if is_sowing(of):
        return lambda position: features.sowing_score(of.plain(position), weights)

    def score(position: Position) -> int:
        return features.thousandths(features.othello_total(naive_othello(of, position), weights))

    return score


def naive_othello(of: Game, position: Position) -> othello_rules.State:
    """The position as the naive twin of the rules holds it."""
    own, other = of.plain(position)
    side = position.mover
    board = [
        side if square in own else 1 - side if square in other else othello_rules.EMPTY
        for square in range(of.rules.cells)
    ]
    adjacent = of.rules.adjacency != 0
    rules = othello_rules.Rules(of.rules.size, adjacent, of.rules.adjacency or 8)
    return othello_rules.given(rules, tuple(board), side)


def deepest(name: str, position: Position, most: int, leaves: int) -> int:
    """Return the largest depth up to `most` with about `leaves` leaves."""
    moves = max(2, len(game(name).legal(position)))
    depth = 1
    while depth < most and moves ** (depth + 1) <= leaves:
        depth += 1
    return depth
