"""The agents whose every move is one compiled call: simple policies, minimax and alpha-beta."""

from dataclasses import replace

import numpy as np

from agents.core import (
    AgentSpec,
    Choice,
    Limit,
    Weights,
    refuse_finished,
)
from agents.features import all_features, feature_names
from agents.kernels.bind import agent_kernels, known_moves
from agents.kernels.contexts import agent_context, set_limits, set_noise, set_weights
from agents.kernels.evaluator import address_of
from agents.kernels.layout import (
    ALPHABETA_KIND,
    COLLAPSED_KIND,
    ENDGAME,
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
from agents.own import OwnEvaluation
from agents.weights import checked_weights
from games import Game, Position
from games.context import Context
from games.drivers import PASS

TABLE_BITS = 16
SEARCHES = ("minimax", "collapsed", "alphabeta")
DEFAULT_DEPTH = 6


class CompiledAgent:
    """One agent in one context; the context is also what the whole-game loop plays with."""

    def __init__(self, spec: AgentSpec, of: Game, kind: str, defaults: Weights) -> None:
        """`kind` is a kernel's kind; `defaults` are the weights where the spec has none."""
        self.spec = spec
        self.game = of
        self.kernels = agent_kernels(of.family_name)
        searching = kind in SEARCHES
        bits = spec.table_bits if spec.table_bits is not None else TABLE_BITS
        ties_by_side = known_moves(of.family_name).TIES_BY_SIDE
        self.context = agent_context(of, kind, ties_by_side, bits if kind == "alphabeta" else 0)
        set_noise(self.context, spec.epsilon, spec.random_ties)
        self.limit = spec.limit or Limit(depth=DEFAULT_DEPTH)
        if searching:
            self._set_search(defaults)

    def _set_search(self, defaults: Weights) -> None:
        spec, of = self.spec, self.game
        names = feature_names(of)
        self._limit(self.limit)
        self.context[ENDGAME] = -1 if spec.endgame is None else spec.endgame
        if spec.evaluate:
            self.own = OwnEvaluation(spec.evaluate, of, compiled=spec.compile)
            set_weights(self.context, self.own.weight_names, self.own.weights(spec.weights))
            self.context[EVALUATOR] = self.own.address(self.context)
        else:
            weights = checked_weights(spec.weights, names) or defaults
            set_weights(self.context, all_features(of), weights)
            evaluate = self.kernels.weighted_features
            self.context[EVALUATOR] = address_of(evaluate, self.context, of.start().state)

    def _limit(self, limit: Limit) -> None:
        set_limits(self.context, limit.depth, limit.nodes, limit.seconds)

    def start(self, seed: int) -> None:
        """Begin a game: the table forgets, chance begins anew from `seed`."""
        self.kernels.new_game(self.context, np.uint64(seed))

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The move and, from a search, its value, depth, nodes, line and whether it is exact."""
        refuse_finished(self.game, position)
        if limit is not None:
            self._limit(limit)
        ctx = self.context
        move = self.move_of(int(self.kernels.choose(ctx, position.state, position.side)))
        choice = Choice(move, nodes=int(ctx[NODES]))
        if ctx[REACHED] != NOT_SEARCHED:
            choice = self._searched(position, choice)
        if limit is not None:
            self._limit(self.limit)
        return choice

    def decide(self, position: Position) -> Choice:
        """The move and its nodes alone, without the cost of finding out what else is known."""
        slot = int(self.kernels.choose(self.context, position.state, position.side))
        return Choice(self.move_of(slot), nodes=int(self.context[NODES]))

    def move_of(self, slot: int) -> int:
        """The move number of a kernel's slot."""
        if slot == PASS:
            assert self.game.pass_move is not None  # kernels pass only in games that have passes
            return self.game.pass_move
        return self.game.move_of_slot[slot]

    def _searched(self, position: Position, choice: Choice) -> Choice:
        ctx = self.context
        depth, value, exact = int(ctx[REACHED]), value_of(int(ctx[VALUE])), bool(ctx[EXACT])
        line = self._line(position, choice.move, depth)
        return replace(choice, value=value, depth=depth, line=line, exact=exact)

    def _line(self, position: Position, move: int, depth: int) -> tuple[int, ...]:
        """The moves that the search expects, from its table or by asking it again."""
        line, looker = [move], self.context.copy()
        position = self.game.play(position, move)
        while len(line) < depth and not self.game.over(position):
            slot = self._expected(looker, position, depth - len(line))
            reply = self.game.pass_move if slot == PASS else self.game.move_of_slot.get(slot)
            if reply is None or reply not in self.game.legal(position):
                break
            line.append(reply)
            position = self.game.play(position, reply)
        return tuple(line)

    def _expected(self, looker: Context, position: Position, depth: int) -> int:
        """The slot of the reply, NO_SLOT if unknown; `looker` is a copy of the context."""
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            return PASS
        if looker[KIND] == ALPHABETA_KIND:
            slot = int(self.kernels.table_move(looker, position.state))
            return slot if slot >= 0 else NO_SLOT
        if looker[KIND] == COLLAPSED_KIND:
            return NO_SLOT  # its depth counts turns: the rest of a turn is not a reply
        set_limits(looker, depth, None, None)
        return int(self.kernels.choose(looker, position.state, position.side))


def value_of(score: int) -> float:
    """A kernel's score as an evaluation, or as the margin when the game is decided."""
    if abs(score) >= WIN:
        return (abs(score) - WIN) / UNIT * (1 if score > 0 else -1)
    return score / UNIT
