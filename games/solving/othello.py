"""The search of Othello endgames under the standard rule, on boards up to 8x8."""

import numpy as np

from games.core import Game
from games.kernels.context import Context
from games.kernels.jit import bound
from games.othello.rules import OthelloRules
from games.othello.states.bitboard import STRIDE
from games.position import Position
from games.solving.bounds import Bounds
from games.solving.kernels import othello_search
from games.solving.kernels.othello_search import (
    ENTRY,
    MOST_NODES,
    NODES,
    ORDER_AT,
    PLIES,
    QUADRANTS,
    STOPPED,
    WIDTH,
)
from games.solving.plain import finished
from games.solving.questions import Answer


class OthelloQuestions:
    """Questions about a board of one word a side; the table holds whole boards."""

    def __init__(self, of: Game, table_bits: int) -> None:
        """The table has 2 ** `table_bits` entries."""
        self.game, self.nodes = of, 0
        self.kernels = bound(of.family_name, othello_search.of_bitboard)
        self.table = np.zeros(int(ENTRY) << table_bits, np.uint64)
        self.context = search_context(of)

    def prepare(self) -> None:
        """Nothing needs preparing."""

    def forget(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """All squares."""
        if self.game.over(position):
            return finished(self.game, position)
        return Bounds(-self.game.rules.cells, self.game.rules.cells)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Search, starting from what the table knows."""
        ctx = self.context
        ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, nodes, 0
        value = self.kernels.at_least(ctx, self.table, *position.state, bound, 0)
        self.nodes += int(ctx[NODES])
        return None if ctx[STOPPED] else int(value)


def search_context(of: Game) -> Context:
    """The rules and the quarters of the board, followed by the lists of moves."""
    rules = of.context
    ctx = np.zeros(len(rules) + int(WIDTH) * PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[QUADRANTS : QUADRANTS + 4] = np.array(quadrants(of.rules), np.uint64).view(np.int64)
    ctx[ORDER_AT] = len(rules)
    return ctx


def quadrants(rules: OthelloRules) -> list[int]:
    """The squares of each quarter of the board."""
    half = rules.size // 2
    squares = [(row, column) for row in range(half) for column in range(half)]
    corners = [(row, column) for row in (0, half) for column in (0, half)]
    return [
        sum(1 << (top + row) * STRIDE + left + column for row, column in squares)
        for top, left in corners
    ]
