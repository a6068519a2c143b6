"""Perfect play where it can be proved within a budget, `smart` elsewhere."""

from dataclasses import replace

from agents.core import Agent, AgentSpec, Choice, Limit, require_unfinished
from agents.kinds.alphabeta import create_smart
from agents.options import CLOCKS, limit_options, search_randomness_reason
from agents.registry import Kind, option_values
from agents.search_info import SearchInfo, info_from_choice
from games import Game, Position
from games.base.schema import Key
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import board_order, lowest_best_move, reaches_margin
from games.solving.solver import Allowance

TO_THE_END = 200  # the depth of a Choice that means the end of the game


OPTIONS = (
    *limit_options(nodes=2_000_000)[1:],  # a proof has no depth
    *CLOCKS,
    Key("table_bits", "int", "the table has 2 to this power entries", 18, low=4, high=26),
)


class PerfectAgent:
    """Plays a best move by exact margins, or one that keeps a proved win.

    Ties go to the move that leaves the opponent the fewest replies that keep the margin, then to
    the lowest number on the board. The endgame database is opened at the first move.
    """

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        settings = option_values(OPTIONS, spec, game)
        self.spec, self.game = spec, game
        self.limit = Limit(nodes=settings["nodes"], seconds=settings["seconds"])
        self.solver = solver_of(game, SolverSettings(settings["table_bits"]))
        self.smart = create_smart(AgentSpec("smart"), game)
        self.last_choice: Choice | None = None
        self.has_proof = False  # whether the last choice is proved; otherwise `smart` made it

    def start(self, seed: int) -> None:
        """Begin a game."""
        self.smart.start(seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return a proved move, or the move of `smart`."""
        self.last_choice = self._find_choice(position, limit)
        return self.last_choice

    def search_info(self, position: Position, _: int) -> SearchInfo | None:
        """Return the search information of the last choice."""
        return (
            None
            if self.last_choice is None
            else info_from_choice(self.game, position, self.last_choice)
        )

    def _find_choice(self, position: Position, limit: Limit | None) -> Choice:
        require_unfinished(self.game, position)
        limit, rest = limit or self.limit, None
        if limit is not self.limit and limit.seconds is not None:  # of a clock: `smart` needs half
            rest = Limit(seconds=limit.seconds / 2)
            limit = replace(limit, seconds=rest.seconds)
        self.solver.clear()  # a move must depend on the position alone
        before, half = self.solver.nodes, half_budget(limit)
        bounds = self.solver.margin(position, half)
        allowance = Allowance(half)
        proved = bounds.exact or bounds.outcome == "win"
        moves = self._moves_that_keep(position, bounds.low, allowance) if proved else []
        self.has_proof = bool(moves)
        if not moves:
            choice = self.smart.choose(position, rest)
            return replace(choice, nodes=choice.nodes + self.solver.nodes - before)
        move = min(moves, key=lambda move: self._count_replies(position, move, allowance))
        nodes = self.solver.nodes - before
        depth = TO_THE_END if bounds.exact else 0
        return Choice(move, float(bounds.low), depth, nodes, (move,), bounds.exact)

    def allowance(self) -> Allowance:
        """Return the budget of one move."""
        return Allowance(Budget(self.limit.nodes, self.limit.seconds))

    def _moves_that_keep(self, position: Position, margin: int, allowance: Allowance) -> list[int]:
        """Return the moves proved to be worth at least `margin`, in board order."""
        return [
            move
            for move in board_order(self.game, position)
            if reaches_margin(self.solver, position, move, margin, allowance)
        ]

    def _count_replies(self, position: Position, move: int, allowance: Allowance) -> int:
        """Return the number of replies that keep the opponent's margin.

        Extra turns are followed to the end of the turn.
        """
        mover, best = position.mover, move
        while True:
            position = self.game.play(position, best)
            bounds = self.solver.margin(position, allowance)
            if position.mover != mover or self.game.over(position):
                return len(self._moves_that_keep(position, bounds.low, allowance))
            next_best = lowest_best_move(self.solver, position, bounds.low, allowance)
            if next_best is None:
                return len(self.game.slots)  # the budget ended: assume the worst
            best = next_best


def half_budget(limit: Limit) -> Budget:
    """Return half of the budget: one half finds the margin, the other half the move."""
    nodes = None if limit.nodes is None else limit.nodes // 2
    return Budget(nodes, None if limit.seconds is None else limit.seconds / 2)


def build(spec: AgentSpec, game: Game) -> Agent:
    """Perfect play as far as the budget proves it."""
    return PerfectAgent(spec, game)


KIND = Kind(build, OPTIONS, ("features", "defaults"), search_randomness_reason)
