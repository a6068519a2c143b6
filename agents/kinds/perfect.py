"""Perfect play where it can be proved within a budget, `smart` elsewhere."""

from dataclasses import replace

from agents.core import Agent, AgentSpec, Choice, Limit, require_unfinished
from agents.kinds.alphabeta import create_smart
from agents.options import limit_options, varies
from agents.registry import option_values
from agents.search_info import SearchInfo, info_from_choice
from games import Game, Position
from games.base.schema import Key
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import board_order, is_worth, lowest_best
from games.solving.solver import Allowance

__all__ = ["NEEDS", "OPTIONS", "build", "varies"]

TO_THE_END = 200  # plies, as `Choice` says it


NEEDS = ("features", "defaults")
OPTIONS = (
    *limit_options(nodes=2_000_000)[1:],  # a proof has no depth
    Key("table_bits", "int", "2 to this power positions are remembered", 18, low=4, high=26),
)


class PerfectAgent:
    """Plays a best move by exact margins; if only the result is proved, one that keeps it.

    Among the best it takes the move after which the fewest of the opponent's replies keep his
    margin, and among those the lowest number on the board.
    """

    def __init__(self, spec: AgentSpec, of: Game) -> None:
        """The endgame database is built or opened at the first move."""
        chosen = option_values(OPTIONS, spec, of)
        self.spec, self.game = spec, of
        self.limit = Limit(nodes=chosen["nodes"], seconds=chosen["seconds"])
        self.solver = solver_of(of, SolverSettings(chosen["table_bits"]))
        self.smart = create_smart(AgentSpec("smart"), of)
        self.found: Choice | None = None  # its last choice
        self.proved = False  # whether that rests on a proof; else `smart` made it

    def start(self, seed: int) -> None:
        """Begin a game."""
        self.smart.start(seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """A proved move, or the one that `smart` plays."""
        self.found = self._find_choice(position, limit)
        return self.found

    def thought(self, position: Position, _: int) -> SearchInfo | None:
        """What it thought of the move that it has just chosen."""
        return None if self.found is None else info_from_choice(self.game, position, self.found)

    def _find_choice(self, position: Position, limit: Limit | None) -> Choice:
        require_unfinished(self.game, position)
        limit = limit or self.limit
        self.solver.forget()  # a move is a function of the position alone
        before, half = self.solver.nodes, half_budget(limit)
        bounds = self.solver.margin(position, half)
        allowance = Allowance(half)
        proved = bounds.exact or bounds.outcome == "win"
        moves = self._moves_that_keep(position, bounds.low, allowance) if proved else []
        self.proved = bool(moves)
        if not moves:
            choice = self.smart.choose(position)
            return replace(choice, nodes=choice.nodes + self.solver.nodes - before)
        move = min(moves, key=lambda each: self._answers(position, each, allowance))
        nodes = self.solver.nodes - before
        depth = TO_THE_END if bounds.exact else 0
        return Choice(move, float(bounds.low), depth, nodes, (move,), bounds.exact)

    def allowance(self) -> Allowance:
        """The budget of one move."""
        return Allowance(Budget(self.limit.nodes, self.limit.seconds))

    def _moves_that_keep(self, position: Position, margin: int, allowance: Allowance) -> list[int]:
        """The moves proved to be worth at least `margin`, in the order of the board."""
        return [
            move
            for move in board_order(self.game, position)
            if is_worth(self.solver, position, move, margin, allowance)
        ]

    def _answers(self, position: Position, move: int, allowance: Allowance) -> int:
        """How many replies keep the opponent's margin; of a move that goes on, those to its end."""
        mover, best = position.mover, move
        while True:
            position = self.game.play(position, best)
            bounds = self.solver.margin(position, allowance)
            if position.mover != mover or self.game.over(position):
                return len(self._moves_that_keep(position, bounds.low, allowance))
            found = lowest_best(self.solver, position, bounds.low, allowance)
            if found is None:
                return len(self.game.slots)  # the budget ended: unknown is no merit
            best = found


def half_budget(limit: Limit) -> Budget:
    """Half of the budget finds the margin, the other half the move."""
    nodes = None if limit.nodes is None else limit.nodes // 2
    return Budget(nodes, None if limit.seconds is None else limit.seconds / 2)


def build(spec: AgentSpec, of: Game) -> Agent:
    """The agent that plays perfectly as far as it can."""
    return PerfectAgent(spec, of)
