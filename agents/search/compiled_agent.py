"""Agents whose every move is one compiled call."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from agents.core import (
    Agent,
    AgentSpec,
    Choice,
    Limit,
    Options,
    SearchedMove,
    Weights,
    require_unfinished,
)
from agents.evaluation.features import address_of
from agents.evaluation.learned_value import with_learned
from agents.evaluation.user_evaluation import OwnEvaluation
from agents.evaluation.weights import checked_weights, cuts, shallow_errors
from agents.options import UNCHECKED
from agents.search.bind import agent_kernels, knowledge_names
from agents.search.context import (
    ALPHABETA_KIND,
    CHECK_AT,
    COLLAPSED_KIND,
    DEADLINE,
    ENDGAME,
    EPSILON,
    EVALUATOR,
    EXACT,
    HIGHEST,
    KIND,
    NO_ENDGAME,
    NO_SLOT,
    NODES,
    NOT_SEARCHED,
    REACHED,
    SOLVE,
    STOPPED,
    UNIT,
    UNLIMITED,
    VALUE,
    VALUED,
    WIN,
    agent_context,
    set_cuts,
    set_limits,
    set_noise,
    set_own_weights,
    set_weights,
    with_own_weights,
)
from games import Game, Position
from games.kernels.jit import Kernel


class CompiledAgent:
    """One agent in one context; the context is also what the whole-game loop plays with."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        policy: str,
        settings: Options,
        limit: Limit | None = None,
    ) -> None:
        """`policy` is one of the kernels' KINDS; `settings` holds every option of the spec's kind.

        `limit` is for a search; `None` if the policy does not look ahead.
        """
        self.spec, self.game = spec, of
        self.settings, self.limit = settings, limit
        self.own: OwnEvaluation | None = None
        self.by_tables = False  # whether learned tables value positions, not weighted features
        self.kernels = agent_kernels(of.family_name)
        ties_by_side = knowledge_names(of.family_name)["TIES_BY_SIDE"]
        self.context = agent_context(of, policy, ties_by_side, settings.get("table_bits", 0))
        set_noise(
            self.context, settings.get("epsilon", 0.0), settings.get("random_ties", False)
        )  # fmt: skip
        self._limit(limit)
        if limit is not None:
            self._evaluate_by(spec.options.get("weights", {}), settings["weights"])
            self._limit(limit)

    def _evaluate_by(self, own: Weights, weights: Weights | str) -> None:
        of = self.game
        if isinstance(weights, str):
            self.context, self.by_tables = with_learned(self.context, Path(weights), of), True
            self.context[VALUED] = knowledge_names(of.family_name)["CHILD_POINTS"]
            return
        if reference := self.settings["evaluate"]:
            self.own = OwnEvaluation(reference, of, self.settings["compile"] == UNCHECKED)
            self.context = with_own_weights(self.context, len(self.own.weight_names))
            set_own_weights(self.context, self.own.numbers(own))
            self.context[EVALUATOR] = self.own.address(self.context)
        else:
            set_weights(self.context, of.all_features, checked_weights(weights, of.features))
            evaluate = self.kernels.weighted_features
            self.context[EVALUATOR] = address_of(evaluate, self.context, of.start().state)

    def reweigh(self, weights: Weights) -> None:
        """Give it other weights in place."""
        if self.own is None:
            set_weights(self.context, self.game.all_features, weights)
        else:
            set_own_weights(self.context, self.own.numbers(weights))

    def _limit(self, limit: Limit | None) -> None:
        if limit is not None:
            set_limits(self.context, limit.depth, limit.nodes, limit.seconds)
            self.context[ENDGAME] = self._endgame(limit)
            if self.by_tables:
                set_cuts(self.context, self._cuts(limit))

    def _endgame(self, limit: Limit) -> int:
        """A depth limit searches just that depth; a budget also solves what little is left."""
        if limit.depth is not None and "endgame" not in self.spec.options:
            return NO_ENDGAME
        endgame: int | None = self.settings.get("endgame")
        return NO_ENDGAME if endgame is None else endgame

    def _cuts(self, limit: Limit) -> Iterable[tuple[int, int, float, float]]:
        """The same of ProbCut, whose errors are in discs or beans, as learned tables are."""
        probcut = self.settings.get("probcut")
        if not probcut or limit.depth is not None:
            return ()
        return cuts(shallow_errors(self.game), probcut)

    def start(self, seed: int) -> None:
        """Begin a game: chance starts anew from `seed`."""
        self.kernels.new_game(self.context, np.uint64(seed))

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The move and, from a search, its value, depth, nodes, line and whether it is exact."""
        require_unfinished(self.game, position)
        self._limit(limit or self.limit)
        try:
            choice = self.decide(position)
            return self.explained(position, choice)
        finally:
            self._limit(self.limit)

    def decide(self, position: Position, limit: Limit | None = None) -> Choice:
        """The move, its value and nodes, without the cost of tracing its line."""
        if limit is not None:
            self._limit(limit)
            try:
                return self.decide(position)
            finally:
                self._limit(self.limit)
        slot = self._call(position, self.kernels.choose, position.state, position.side)
        return self.last(self.game.moves_of(slot))

    @property
    def score(self) -> int:
        """The kernels' score of its last choice; only after a search."""
        return int(self.context[VALUE])

    def search_move(self, position: Position, move: int, depth: int) -> SearchedMove:
        """Search a legal move to a depth: no limit stops it, and no other move cuts it short."""
        child, context = self.game.play(position, move), self.context
        context[NODES] = context[STOPPED] = 0
        context[CHECK_AT] = context[DEADLINE] = UNLIMITED
        score = self._call(
            position,
            self.kernels.child_value,
            child.state,
            child.mover == position.mover,
            position.side,
            np.int64(self.game.slots_of(move)),
            np.int64(SOLVE if depth == SOLVE else depth - 1),
            np.int64(-HIGHEST),
            np.int64(HIGHEST),
        )
        nodes = int(context[NODES])
        return SearchedMove(score, nodes, self._line(position, move, depth))

    def _call(self, position: Position, kernel: Kernel, *arguments: object) -> int:
        """Call a kernel; an error of the user's evaluation becomes the agent's failure."""
        try:
            return int(kernel(self.context, *arguments))
        except Exception as error:
            if self.own is None:
                raise
            raise self.own.failure(position, error) from None

    def last(self, move: int) -> Choice:
        """What `decide` found last, once more."""
        searched = self.context[REACHED] != NOT_SEARCHED
        value = value_of(int(self.context[VALUE])) if searched else None
        return Choice(move, value, nodes=int(self.context[NODES]))

    def explained(self, position: Position, choice: Choice) -> Choice:
        """A choice that was just made, with its depth and line if it comes from a search."""
        if choice.value is None:
            return choice
        depth, exact = int(self.context[REACHED]), bool(self.context[EXACT])
        line = self._line(position, choice.move, depth)
        return replace(choice, depth=depth, line=line, exact=exact)

    def _line(self, position: Position, move: int, depth: int) -> tuple[int, ...]:
        """The moves that the search expects, from its table or by searching again."""
        line: list[int] = []
        reply: int | None = move
        while reply is not None:
            line.append(reply)
            depth -= reply != self.game.pass_move
            position = self.game.play(position, reply)
            reply = self._reply(position, depth)
        return tuple(line)

    def _reply(self, position: Position, depth: int) -> int | None:
        """The next move of the line, `None` at its end; a pass costs no depth."""
        legal = self.game.legal(position)
        if depth <= 0 or not legal or legal == (self.game.pass_move,):
            return legal[0] if depth > 0 and legal else None
        slot = self._expected(position, depth)
        reply = self.game.moves_of(slot) if slot >= 0 else None
        return reply if reply in legal else None

    def _expected(self, position: Position, depth: int) -> int:
        """The slot of the reply, below 0 if unknown; the agent's own context does not change."""
        if self.context[KIND] == ALPHABETA_KIND:
            return int(self.kernels.table_move(self.context, position.state))
        if self.context[KIND] == COLLAPSED_KIND:
            return NO_SLOT  # its depth counts turns: the rest of a turn is not a reply
        context = self.context.copy()
        set_limits(context, depth, None, None)
        context[EPSILON] = 0
        return int(self.kernels.choose(context, position.state, position.side))


def value_of(score: int) -> float:
    """A kernel's score as an evaluation, or as the margin of a game that is decided."""
    if abs(score) >= WIN:
        return (abs(score) - WIN) / UNIT * (1 if score > 0 else -1)
    return score / UNIT


def decided(agent: Agent, position: Position, limit: Limit | None = None) -> Choice:
    """The agent's move; a compiled agent does not trace its line, which takes time."""
    if isinstance(agent, CompiledAgent):
        return agent.decide(position, limit)
    return agent.choose(position, limit)
