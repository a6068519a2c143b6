"""The agents whose every move is one compiled call: simple policies, minimax and alpha-beta."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from agents.core import (
    AgentSpec,
    Choice,
    Limit,
    Weights,
    refuse_finished,
)
from agents.evaluations.default_weights import classroom_weights
from agents.evaluations.user_evaluation import OwnEvaluation
from agents.evaluations.weight_files import checked_weights
from agents.kernels.bind import agent_kernels, knowledge_names
from agents.kernels.contexts import (
    NO_ENDGAME,
    agent_context,
    set_limits,
    set_noise,
    set_weights,
)
from agents.kernels.evaluator import address_of
from agents.kernels.layout import (
    ALPHABETA_KIND,
    COLLAPSED_KIND,
    ENDGAME,
    EPSILON,
    EVALUATOR,
    EXACT,
    KIND,
    NO_SLOT,
    NODES,
    NOT_SEARCHED,
    REACHED,
    UNIT,
    VALUE,
    WIN,
)
from games import Game, Position

TABLE_BITS = 16
SEARCHES = ("minimax", "collapsed", "alphabeta")
DEFAULT_DEPTH = 6


class CompiledAgent:
    """One agent in one context; the context is also what the whole-game loop plays with."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        kind: str,
        defaults: Callable[[Game], Weights] = classroom_weights,
        endgame: int | None = None,
    ) -> None:
        """`kind` is a kernel's kind; `defaults` and `endgame` hold where the spec has none."""
        self.spec = spec
        self.game = of
        self.own: OwnEvaluation | None = None
        self.endgame = endgame
        self.kernels = agent_kernels(of.family_name)
        searching = kind in SEARCHES
        bits = spec.table_bits if spec.table_bits is not None else TABLE_BITS
        ties_by_side = knowledge_names(of.family_name)["TIES_BY_SIDE"]
        self.context = agent_context(of, kind, ties_by_side, bits if kind == "alphabeta" else 0)
        set_noise(self.context, spec.epsilon, spec.random_ties)
        self.limit = spec.limit or Limit(depth=DEFAULT_DEPTH)
        if searching:
            self._set_search(defaults)

    def _set_search(self, defaults: Callable[[Game], Weights]) -> None:
        spec, of = self.spec, self.game
        self._limit(self.limit)
        if spec.evaluate:
            self.own = OwnEvaluation(spec.evaluate, of, compiled=spec.compile)
            set_weights(self.context, self.own.weight_names, self.own.weights(spec.weights))
            self.context[EVALUATOR] = self.own.address(self.context)
        else:
            weights = checked_weights(spec.weights, of.features) or defaults(of)
            set_weights(self.context, of.all_features, weights)
            evaluate = self.kernels.weighted_features
            self.context[EVALUATOR] = address_of(evaluate, self.context, of.start().state)

    def _limit(self, limit: Limit) -> None:
        set_limits(self.context, limit.depth, limit.nodes, limit.seconds)
        self.context[ENDGAME] = self._endgame(limit)

    def _endgame(self, limit: Limit) -> int:
        """A depth limit searches just that depth; a budget also solves what little is left."""
        if self.spec.endgame is not None:
            return self.spec.endgame
        if limit.depth is not None or self.endgame is None:
            return NO_ENDGAME
        return self.endgame

    def start(self, seed: int) -> None:
        """Begin a game: the table forgets, chance begins anew from `seed`."""
        self.kernels.new_game(self.context, np.uint64(seed))

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The move and, from a search, its value, depth, nodes, line and whether it is exact."""
        refuse_finished(self.game, position)
        self._limit(limit or self.limit)
        try:
            choice = self.decide(position)
            searched = self.context[REACHED] != NOT_SEARCHED
            return self._searched(position, choice) if searched else choice
        finally:
            self._limit(self.limit)

    def decide(self, position: Position) -> Choice:
        """The move and its nodes alone, without the cost of finding out what else is known."""
        try:
            slot = int(self.kernels.choose(self.context, position.state, position.side))
        except Exception as error:
            if self.own is None:
                raise
            raise self.own.failure(position, error) from None
        return Choice(self.game.moves_of(slot), nodes=int(self.context[NODES]))

    def _searched(self, position: Position, choice: Choice) -> Choice:
        ctx = self.context
        depth, value, exact = int(ctx[REACHED]), value_of(int(ctx[VALUE])), bool(ctx[EXACT])
        line = self._line(position, choice.move, depth)
        return replace(choice, value=value, depth=depth, line=line, exact=exact)

    def _line(self, position: Position, move: int, depth: int) -> tuple[int, ...]:
        """The moves that the search expects, from its table or by asking it again."""
        line: list[int] = []
        reply: int | None = move
        while reply is not None:
            line.append(reply)
            depth -= reply != self.game.pass_move
            position = self.game.play(position, reply)
            reply = self._reply(position, depth)
        return tuple(line)

    def _reply(self, position: Position, depth: int) -> int | None:
        """The next move of the line, `None` where it ends; a pass costs no depth."""
        legal = self.game.legal(position)
        if depth <= 0 or not legal or legal == (self.game.pass_move,):
            return legal[0] if depth > 0 and legal else None
        slot = self._expected(position, depth)
        reply = self.game.moves_of(slot) if slot >= 0 else None
        return reply if reply in legal else None

    def _expected(self, position: Position, depth: int) -> int:
        """The slot of the reply, below 0 if unknown; the agent's own context is only read."""
        if self.context[KIND] == ALPHABETA_KIND:
            return int(self.kernels.table_move(self.context, position.state))
        if self.context[KIND] == COLLAPSED_KIND:
            return NO_SLOT  # its depth counts turns: the rest of a turn is not a reply
        looker = self.context.copy()
        set_limits(looker, depth, None, None)
        looker[EPSILON] = 0
        return int(self.kernels.choose(looker, position.state, position.side))


def value_of(score: int) -> float:
    """A kernel's score as an evaluation, or as the margin when the game is decided."""
    if abs(score) >= WIN:
        return (abs(score) - WIN) / UNIT * (1 if score > 0 else -1)
    return score / UNIT
