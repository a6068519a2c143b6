"""Values of all legal moves, as an agent sees them."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from agents.core import Agent, AgentSpec, Choice, SearchedMove
from agents.evaluation.features import TERMS
from agents.kinds.mcts import MctsAgent
from agents.kinds.perfect import PerfectAgent
from agents.registry import Kind
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.search.bind import (
    callable_features,
    move_ordering_names,
    part_functions,
    search_kernels,
)
from agents.search.compiled_agent import CompiledAgent, score_value
from agents.search.context import KIND, KINDS, MOST_FEATURES, PHASES, SOLVE, UNIT, WEIGHTS, WIN
from games import Game, Position
from games.kernels.jit import Kernel, python_function, specialise
from games.parts import is_users, package_of
from games.solving.solution import board_order, move_bounds

# Descriptions of the policies, by their names in KINDS.
POLICIES = {
    "random": "a random legal move",
    "first": "the first move on the board",
    "last": "the last move on the board",
    "nearest_pot": "the hole nearest to the pot",
    "fewest": "the hole with the fewest beans",
}
HIGHEST = "the highest value"
PROVED = "the highest proved margin; of equal ones, the one that leaves the fewest good replies"
MOST_VISITED = "the most simulations"
VALUED = ("greedy",)  # policies with meaningful values


Bound = Literal["", "<=", ">="]


@dataclass(frozen=True, slots=True)
class MoveValue:
    """A legal move with the agent's value for it, from the mover's side.

    `rank` orders the moves as the agent does; a move with only an upper bound has none. `own` and
    `theirs` are the immediate score changes of the mover and the opponent.
    """

    move: int
    value: float | None = None
    bound: Bound = ""  # the value is only a bound
    decided: bool = False  # the value is the margin of a game searched to its end
    rank: float | None = None
    depth: int = 0
    nodes: int = 0
    line: tuple[int, ...] = ()
    own: int = 0
    theirs: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """A feature in the static evaluation: both sides' counts and their contribution."""

    name: str
    weight: float
    own: int
    other: int
    worth: float


def without_epsilon(spec: AgentSpec, kind: Kind) -> AgentSpec:
    """Return the spec without random moves."""
    return spec.replace(epsilon=None) if kind.option("epsilon") else spec


def search_of(agent: Agent, choice: Choice) -> CompiledAgent | SandboxedAgent | None:
    """Return the search that made the choice, or None if no search did."""
    if isinstance(agent, PerfectAgent):
        return None if agent.has_proof else search_of(agent.smart, choice)
    if isinstance(agent, CompiledAgent):
        return agent if agent.limit is not None else None
    return agent if isinstance(agent, SandboxedAgent) and agent.searches else None


def move_values(
    agent: Agent, game: Game, position: Position, choice: Choice
) -> Iterator[MoveValue]:
    """Yield every legal move in board order; `choice` is the agent's answer here."""
    legal = moves_on_board(game, position)
    if legal == [game.pass_move]:
        yield MoveValue(
            legal[0],
            choice.value,
            decided=choice.exact,
            depth=choice.depth,
            nodes=choice.nodes,
            line=choice.line,
        )
    elif search := search_of(agent, choice):
        yield from values_by_search(search, position, legal, choice)
    elif isinstance(agent, PerfectAgent):
        yield from values_by_proof(agent, position, choice)
    elif isinstance(agent, CompiledAgent):
        yield from (value_by_policy(agent, position, move) for move in legal)
    elif isinstance(agent, MctsAgent):
        for move, (value, visits) in agent.move_values(position).items():
            scores = score_changes(game, position, move)
            yield MoveValue(move, value, rank=visits, nodes=visits, own=scores[0], theirs=scores[1])
    else:
        for move in legal:
            own, theirs = score_changes(game, position, move)
            yield MoveValue(move, own=own, theirs=theirs)


def has_own_values(agent: Agent) -> bool:
    """Return whether the agent has a value for every move."""
    if isinstance(agent, CompiledAgent):
        return agent.limit is not None or policy_of(agent) in VALUED
    return isinstance(agent, PerfectAgent | MctsAgent)


def moves_on_board(game: Game, position: Position) -> list[int]:
    """Return the legal moves in board order, in which searches break ties; a swap comes last."""
    legal = game.legal(position)
    moves = [move for move in legal if move != game.swap_move]
    if position.side == 1 and move_ordering_names(game.family_name)["TIES_BY_SIDE"]:
        moves.reverse()
    return moves + [move for move in legal if move == game.swap_move]


def values_by_search(
    search: CompiledAgent | SandboxedAgent, position: Position, legal: list[int], choice: Choice
) -> Iterator[MoveValue]:
    """Yield every move with its value, searched to the depth of the choice.

    The original search only asked whether a move beats the best one. ProbCut then skips branches,
    and a budget leaves bounds of deeper searches and an unfinished depth. Searched alone, a move
    may get a higher value than the chosen one. The choice did not use that value, so the value of
    the choice is shown as an upper bound.
    """
    best, depth = search.score, max(1, choice.depth)
    random_ties = search.spec.options.get("random_ties", False)
    earlier = not random_ties  # whether the move precedes the chosen one, and so wins ties
    for move in legal:
        if choice.depth and move == choice.move:
            searched, bounded, earlier = SearchedMove(best, 0, choice.line), False, False
        else:
            searched = search.search_move(position, move, depth)
            better = searched.score > best or (searched.score == best and earlier)
            bounded = better and choice.depth > 0
        score = best if bounded else searched.score
        own, theirs = score_changes(search.game, position, move)
        yield MoveValue(
            move,
            score_value(score),
            "<=" if bounded else "",
            decided=abs(score) >= WIN or depth == SOLVE,
            rank=None if bounded else score,
            depth=depth,
            nodes=searched.nodes,
            line=searched.line,
            own=own,
            theirs=theirs,
        )


def values_by_proof(agent: PerfectAgent, position: Position, choice: Choice) -> Iterator[MoveValue]:
    """Yield every move with its exact margin where the agent's budget proves one."""
    game, solver, allowance = agent.game, agent.solver, agent.allowance()
    limits = solver.search.limits(position)
    for move in board_order(game, position):
        *_, bounds = move_bounds(solver, position, move, allowance, limits)
        scores = score_changes(game, position, move)
        if move == choice.move:
            bound: Bound = "" if choice.exact else ">="
            yield MoveValue(move, choice.value, bound, True, None, SOLVE, 0, (move,), *scores)
        elif bounds.exact:
            yield MoveValue(move, bounds.low, "", True, None, SOLVE, 0, (move,), *scores)
        else:
            yield MoveValue(move, own=scores[0], theirs=scores[1])


def value_by_policy(agent: CompiledAgent, position: Position, move: int) -> MoveValue:
    """Return a move with its value for a policy that does not search."""
    own, theirs = score_changes(agent.game, position, move)
    if policy_of(agent) not in VALUED:
        return MoveValue(move, own=own, theirs=theirs)
    slot = agent.game.slots_of(move)
    value = int(policy_kernel(agent.game.family_name)(agent.context, position.state, slot, 0))
    return MoveValue(move, value, rank=value, line=(move,), own=own, theirs=theirs)


@cache
def policy_kernel(family_name: str) -> Kernel:
    """Return the compiled function that computes the value of a move for a policy."""
    kernels = vars(search_kernels(family_name))
    template = python_function(kernels["policy_value"])
    if is_users(package_of(family_name)):  # users' code is not cached on disk
        return cast("Kernel", kernels["policy_value"])
    suffix = f"{importlib.import_module(family_name).FAMILY}_explained"
    value: Kernel = specialise(suffix, [template], **kernels).policy_value
    return value


def policy_of(agent: CompiledAgent) -> str:
    """Return the name of the agent's policy or search."""
    return KINDS[int(agent.context[KIND])]


def score_changes(game: Game, position: Position, move: int) -> tuple[int, int]:
    """Return the score changes that a move brings to the mover and the opponent."""
    before, after = game.raw_score(position), game.raw_score(game.play(position, move))
    mover = position.mover
    return after[mover] - before[mover], after[1 - mover] - before[1 - mover]


def static_value(agent: CompiledAgent, position: Position) -> float:
    """Return the evaluation of the position itself, from the mover's side."""
    if agent.uses_tables:
        return int(agent.kernels.position_value(agent.context, position.state)) / UNIT
    return int(agent.kernels.feature_sum(agent.context, position.state)) / UNIT


def feature_terms(agent: CompiledAgent, position: Position) -> Iterator[Term]:
    """Yield the contribution of each feature with a weight to the static evaluation."""
    game, context, state = agent.game, agent.context, position.state
    if agent.uses_tables:  # thousands of weights: `pitflip learn --show` prints them
        return
    bound = callable_features(game.family_name)
    kind = part_functions(game.family_name, "features").get("TERM", "difference")
    compare = python_function(TERMS[kind][0])
    # Interpreted, because it is not cached on disk. Without `restored` the
    # features would be compiled for Python integers.
    other_side = game.family.from_words(python_function(bound["turned"])(state))
    base, phases = WEIGHTS, int(context[PHASES])
    if phases > 1:
        base += MOST_FEATURES * int(bound["progress"](context, state, phases))
    for place, name in enumerate(game.all_features):
        weight = int(context[base + place]) / UNIT
        if weight:
            own, other = (int(bound[name](context, side)) for side in (state, other_side))
            yield Term(name, weight, own, other, weight * compare(own, other))


def choice_rule(agent: Agent, moves: list[MoveValue], choice: Choice) -> str:
    """Return the rule by which the chosen move was selected."""
    if len(moves) == 1:
        return "the only legal move"
    search = search_of(agent, choice)
    if search and not choice.depth:
        return "the best of the moves that it had searched when its limit ended its first search"
    if isinstance(agent, PerfectAgent) and agent.has_proof:
        return PROVED if choice.exact else f"{PROVED}; its budget proves a win, not every margin"
    rule = HIGHEST
    if isinstance(agent, CompiledAgent) and search is None:
        rule = POLICIES.get(policy_of(agent), HIGHEST)
    elif search is None:
        mcts = isinstance(agent, MctsAgent)
        return MOST_VISITED if mcts else "unknown: the agent reports neither values nor its rule"
    elif isinstance(agent, PerfectAgent):
        rule = f"its budget proves nothing, so it plays as smart does: {HIGHEST}"
    ranks = [move.rank for move in moves if move.rank is not None]
    if not ranks or (equal := ranks.count(max(ranks))) == 1:
        return rule
    return f"{rule}; of {equal} equal moves {tie_break_rule(agent)}"


def tie_break_rule(agent: Agent) -> str:
    """Return the rule that breaks ties."""
    if agent.spec.options.get("random_ties"):
        return "one at random"
    return "the first on the board"


def value_meaning(agent: Agent) -> str:
    """Return the unit of the agent's values; empty for evaluations and margins."""
    if isinstance(agent, CompiledAgent) and policy_of(agent) == "greedy":
        doc = move_ordering_names(agent.game.family_name)["gain"].__doc__ or ""
        return str(doc).partition("\n")[0]
    if isinstance(agent, MctsAgent):
        return "the share of random games won minus the share lost"
    return ""


def nodes_meaning(agent: Agent) -> str:
    """Return the positions that the nodes of a move's value count."""
    if isinstance(agent, MctsAgent):
        return "simulations that began with this move"
    return "positions of a further search of this move alone"


def depth_text(depth: int) -> str:
    """Return a depth as text."""
    return "end" if depth == SOLVE else str(depth)
