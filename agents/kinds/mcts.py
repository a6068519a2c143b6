"""Monte Carlo tree search with random playouts."""

import time

import numpy as np

from agents.core import Agent, AgentSpec, Choice, Limit, require_unfinished
from agents.options import CLOCKS, limit_options
from agents.registry import Kind, option_values
from agents.search_info import SearchInfo, info_from_choice
from games import Game, Position
from games.base.schema import Key

NODES = 1000
OPTIONS = (
    *limit_options(nodes=NODES)[1:],  # simulations have no depth
    *CLOCKS,
    Key("exploration", "float", "the weight of moves that were tried rarely", 1.4, low=0, high=100),
)
CHECK_CLOCK = 16  # simulations between two looks at the clock
AT_ONCE = 4096  # simulations per call; Ctrl-C has no effect during a call


class MctsAgent:
    """Plays the move that most simulations chose.

    Each simulation walks down the tree by upper confidence bounds, adds one node and finishes the
    game at random. Values are the share of wins minus the share of losses, from -1 to 1.
    """

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        from agents.search import mcts  # noqa: PLC0415  # it loads the compiler

        settings = option_values(OPTIONS, spec, game)
        self.spec, self.game, self.mcts = spec, game, mcts
        self.limit = Limit(nodes=settings["nodes"], seconds=settings["seconds"])
        self.exploration = float(settings["exploration"])
        self.simulate = mcts.mcts_kernels(game.family_name).simulate
        self.word = np.uint64(0)
        self.tree = mcts.new_tree(0)
        self.last_choice: Choice | None = None

    def start(self, seed: int) -> None:
        """Begin a game; `seed` starts the random stream of the playouts."""
        self.word = np.uint64(seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the most visited move with its value and the line of most visited moves."""
        require_unfinished(self.game, position)
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            self.last_choice = Choice(legal[0])
            return self.last_choice
        simulations = self._search(position, limit or self.limit)
        line: list[int] = []
        node = self.mcts.most_visited(self.tree, 0)
        value = self._value(node)
        while node is not None and len(line) < len(self.tree):
            line.append(node)
            node = self.mcts.most_visited(self.tree, node)
        moves = self._moves(position, line)
        self.last_choice = Choice(moves[0], value, len(moves), simulations, moves)
        return self.last_choice

    def move_values(self, position: Position) -> dict[int, tuple[float, int]]:
        """Return value and visits of each move that the last choice compared."""
        return {
            self.game.moves_of(int(self.tree[at, self.mcts.SLOT])): (
                self._value(at),
                int(self.tree[at, self.mcts.VISITS]),
            )
            for at in self.mcts.children(self.tree, 0)
        }

    def search_info(self, position: Position, _: int) -> SearchInfo | None:
        """Return the search information of the last choice."""
        if self.last_choice is None:
            return None
        return info_from_choice(self.game, position, self.last_choice)

    def _search(self, position: Position, limit: Limit) -> int:
        """Fill a new tree and return the number of simulations, which is at least 1."""
        deadline = None if limit.seconds is None else time.perf_counter() + limit.seconds
        most = limit.nodes or self.mcts.MAX_NODES if deadline is None else limit.nodes
        self.tree = self.mcts.new_tree(most or self.mcts.MAX_NODES)
        size, done = 1, 0
        while most is None or done < most:
            batch = AT_ONCE if deadline is None else CHECK_CLOCK
            batch = batch if most is None else min(batch, most - done)
            size, self.word = self.simulate(
                self.game.context,
                position.state,
                self.tree,
                np.int64(size),
                np.int64(batch),
                self.exploration,
                np.uint64(self.word),
            )
            done += batch
            if deadline is not None and time.perf_counter() >= deadline:
                break
        return done

    def _value(self, node: int | None) -> float:
        if node is None:
            return 0.0
        visits = int(self.tree[node, self.mcts.VISITS])
        return float(self.tree[node, self.mcts.SCORE] - visits) / visits

    def _moves(self, position: Position, line: list[int]) -> tuple[int, ...]:
        """Return the moves of a line of nodes, with the forced passes between them."""
        moves: list[int] = []
        for node in line:
            if (legal := self.game.legal(position)) == (self.game.pass_move,):
                moves += legal
                position = self.game.play(position, moves[-1])
            moves.append(self.game.moves_of(int(self.tree[node, self.mcts.SLOT])))
            position = self.game.play(position, moves[-1])
        return tuple(moves)


def build(spec: AgentSpec, game: Game) -> Agent:
    """Monte Carlo tree search: random playouts, guided by their results."""
    return MctsAgent(spec, game)


KIND = Kind(
    build,
    OPTIONS,
    randomness_reason=lambda _: "its playouts are random",
    summary="tree search with random playouts (UCT); it needs no evaluation",
)
