"""Agents that choose every move in one compiled call."""

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
from agents.evaluation.features import evaluation_address
from agents.evaluation.learned_value import add_learned_weights
from agents.evaluation.user_evaluation import UserEvaluation
from agents.evaluation.weights import cut_margins, shallow_errors, validate_weights
from agents.options import UNCHECKED
from agents.search import context as layout
from agents.search.bind import move_ordering_names, search_kernels
from agents.search.context import (
    add_user_weights,
    new_agent_context,
    set_cuts,
    set_limits,
    set_noise,
    set_user_weights,
    set_weights,
)
from games import Game, Position
from games.kernels.jit import Kernel


class CompiledAgent:
    """An agent with one context; the loop over whole games uses the same context.

    `policy` is a name in KINDS and `settings` holds every option of the spec's kind. `limit` is
    None for policies that do not search.
    """

    def __init__(
        self,
        spec: AgentSpec,
        game: Game,
        policy: str,
        settings: Options,
        limit: Limit | None = None,
    ) -> None:
        self.spec, self.game = spec, game
        self.settings, self.limit = settings, limit
        self.user_evaluation: UserEvaluation | None = None
        self.uses_tables = False  # whether learned tables evaluate positions
        self.kernels = search_kernels(game.family_name)
        ties_by_side = move_ordering_names(game.family_name)["TIES_BY_SIDE"]
        self.context = new_agent_context(game, policy, ties_by_side, settings.get("table_bits", 0))
        epsilon, random_ties = settings.get("epsilon", 0.0), settings.get("random_ties", False)
        set_noise(self.context, epsilon, random_ties)
        if limit is not None:
            self._set_evaluation(spec.options.get("weights", {}), settings["weights"])
            self._set_limit(limit)

    def _set_evaluation(self, changes: Weights, weights: Weights | str) -> None:
        game = self.game
        if isinstance(weights, str):
            self.uses_tables = True
            self.context = add_learned_weights(self.context, Path(weights), game)
            self.context[layout.VALUED] = move_ordering_names(game.family_name)["CHILD_POINTS"]
            return
        if reference := self.settings["evaluate"]:
            unchecked = self.settings["compile"] == UNCHECKED
            self.user_evaluation = evaluation = UserEvaluation(reference, game, unchecked)
            self.context = add_user_weights(self.context, len(evaluation.weight_names))
            set_user_weights(self.context, evaluation.numbers(changes))
            self.context[layout.EVALUATOR] = evaluation.address(self.context)
        else:
            set_weights(self.context, game.all_features, validate_weights(weights, game.features))
            evaluate, state = self.kernels.feature_sum, game.start().state
            self.context[layout.EVALUATOR] = evaluation_address(evaluate, self.context, state)

    def set_weights(self, weights: Weights) -> None:
        """Replace the weights in place."""
        if self.user_evaluation is None:
            set_weights(self.context, self.game.all_features, weights)
        else:
            set_user_weights(self.context, self.user_evaluation.numbers(weights))

    def _set_limit(self, limit: Limit | None) -> None:
        if limit is not None:
            set_limits(self.context, limit.depth, limit.nodes, limit.seconds)
            self.context[layout.ENDGAME] = self._endgame(limit)
            if self.uses_tables:
                set_cuts(self.context, self._cuts(limit))

    def _endgame(self, limit: Limit) -> int:
        """Return the endgame threshold: by default budgets solve endgames, depths do not."""
        if limit.depth is not None and "endgame" not in self.spec.options:
            return layout.NO_ENDGAME
        endgame: int | None = self.settings.get("endgame")
        return layout.NO_ENDGAME if endgame is None else endgame

    def _cuts(self, limit: Limit) -> Iterable[tuple[int, int, float, float]]:
        probcut = self.settings.get("probcut")
        if not probcut or limit.depth is not None:
            return ()
        return cut_margins(shallow_errors(self.game), probcut)

    def start(self, seed: int) -> None:
        """Begin a game; `seed` starts the random stream."""
        self.kernels.new_game(self.context, np.uint64(seed))

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the move and, from a search, its value, depth, nodes, line and exactness."""
        require_unfinished(self.game, position)
        self._set_limit(limit or self.limit)
        try:
            choice = self.choose_fast(position)
            return self.add_line(position, choice)
        finally:
            self._set_limit(self.limit)

    def choose_fast(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the move, its value and nodes, but not its line, which takes time to trace."""
        if limit is not None:
            self._set_limit(limit)
            try:
                return self.choose_fast(position)
            finally:
                self._set_limit(self.limit)
        slot = self._call(position, self.kernels.choose, position.state, position.side)
        return self.last_choice(self.game.moves_of(slot))

    @property
    def score(self) -> int:
        """The kernels' score of the last choice; valid only after a search."""
        return int(self.context[layout.VALUE])

    def search_move(self, position: Position, move: int, depth: int) -> SearchedMove:
        """Search a legal move to a depth, without limits and with a full window."""
        child, context = self.game.play(position, move), self.context
        context[layout.NODES] = context[layout.STOPPED] = 0
        context[layout.CHECK_AT] = context[layout.DEADLINE] = layout.UNLIMITED
        score = self._call(
            position,
            self.kernels.child_value,
            child.state,
            child.mover == position.mover,
            position.side,
            np.int64(self.game.slots_of(move)),
            np.int64(layout.SOLVE if depth == layout.SOLVE else depth - 1),
            np.int64(-layout.HIGHEST),
            np.int64(layout.HIGHEST),
        )
        nodes = int(context[layout.NODES])
        return SearchedMove(score, nodes, self._line(position, move, depth))

    def _call(self, position: Position, kernel: Kernel, *arguments: object) -> int:
        try:
            return int(kernel(self.context, *arguments))
        except Exception as error:
            if self.user_evaluation is None:
                raise
            raise self.user_evaluation.failure(position, error) from None

    def last_choice(self, move: int) -> Choice:
        """Return the result of the last `choose_fast` call."""
        searched = self.context[layout.REACHED] != layout.NOT_SEARCHED
        value = score_value(int(self.context[layout.VALUE])) if searched else None
        return Choice(move, value, nodes=int(self.context[layout.NODES]))

    def add_line(self, position: Position, choice: Choice) -> Choice:
        """Return the last choice with its depth and line if it comes from a search."""
        if choice.value is None:
            return choice
        depth, exact = int(self.context[layout.REACHED]), bool(self.context[layout.EXACT])
        line = self._line(position, choice.move, depth)
        return replace(choice, depth=depth, line=line, exact=exact)

    def _line(self, position: Position, move: int, depth: int) -> tuple[int, ...]:
        """Return the expected moves, from the table or by searching again."""
        line: list[int] = []
        reply: int | None = move
        while reply is not None:
            line.append(reply)
            depth -= reply != self.game.pass_move
            position = self.game.play(position, reply)
            reply = self._reply(position, depth)
        return tuple(line)

    def _reply(self, position: Position, depth: int) -> int | None:
        """Return the next move of the line, or None at its end; a pass costs no depth."""
        legal = self.game.legal(position)
        if depth <= 0 or not legal or legal == (self.game.pass_move,):
            return legal[0] if depth > 0 and legal else None
        slot = self._find_reply(position, depth)
        reply = self.game.moves_of(slot) if slot >= 0 else None
        return reply if reply in legal else None

    def _find_reply(self, position: Position, depth: int) -> int:
        """Return the slot of the reply, below 0 if unknown, without changing the context."""
        if self.context[layout.KIND] == layout.ALPHABETA_KIND:
            return int(self.kernels.table_move(self.context, position.state))
        if self.context[layout.KIND] == layout.COLLAPSED_KIND:
            return layout.NO_SLOT  # a depth in turns gives no reply within a turn
        context = self.context.copy()
        set_limits(context, depth, None, None)
        context[layout.EPSILON] = 0
        return int(self.kernels.choose(context, position.state, position.side))


def score_value(score: int) -> float:
    """Return a kernel's score as an evaluation, or as the margin of a decided game."""
    if abs(score) >= layout.WIN:
        return (abs(score) - layout.WIN) / layout.UNIT * (1 if score > 0 else -1)
    return score / layout.UNIT


def choose_fast(agent: Agent, position: Position, limit: Limit | None = None) -> Choice:
    """Return the agent's choice; a compiled agent's has no line, which would take time."""
    if isinstance(agent, CompiledAgent):
        return agent.choose_fast(position, limit)
    return agent.choose(position, limit)
