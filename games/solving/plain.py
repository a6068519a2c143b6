"""A plain search that solves any game, including a user's, if it is small enough."""

import numpy as np

from games.core import Game
from games.kernels.context import Context
from games.kernels.jit import bound
from games.position import Position
from games.solving.bounds import FARTHEST, Bounds
from games.solving.kernels import plain_search
from games.solving.kernels.plain_search import (
    MOST_NODES,
    NODES,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    STOPPED,
    word_paths,
)
from games.solving.questions import Answer


class PlainQuestions:
    """Alpha-beta with whole states in its table; the pots belong to the state."""

    def __init__(self, of: Game, table_bits: int) -> None:
        """The table has about 2 ** `table_bits` entries."""
        self.game, self.nodes = of, 0
        self.kernels = bound(of.family_name, plain_search.of_family)
        width = len(word_paths(of.family.State)) + 1
        self.table = np.zeros(width << table_bits, np.uint64)
        self.context = search_context(of.context)

    def prepare(self) -> None:
        """Nothing needs preparing."""

    def forget(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """All beans, or all squares; unknown for a user's game."""
        if self.game.over(position):
            return finished(self.game, position)
        most = most_of(self.game, position)
        return Bounds(-most, most)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Search, starting from what the table knows."""
        ctx = self.context
        ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, nodes, 0
        value = self.kernels.at_least(ctx, self.table, position.state, bound, 0)
        self.nodes += int(ctx[NODES])
        return None if ctx[STOPPED] else int(value)


def search_context(rules: Context) -> Context:
    """The rules, followed by the lists of moves."""
    ctx = np.zeros(len(rules) + ORDER_WIDTH * ORDER_PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[ORDER_AT] = len(rules)
    return ctx


def finished(of: Game, position: Position) -> Bounds:
    """The margin of a finished game, seen by the side to move."""
    margin = of.margin(position) * (1 if position.mover == 0 else -1)
    return Bounds(margin, margin)


def most_of(of: Game, position: Position) -> int:
    """The largest possible margin: all beans, all squares, or unknown."""
    if of.pack == "sowing":
        return int(of.plain(position).total)
    return int(of.rules.cells) if of.pack == "othello" else FARTHEST
