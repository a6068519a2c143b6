"""Values of all legal moves, as an agent sees them."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from agents.core import Agent, AgentSpec, Choice, SearchedMove
from agents.evaluation.features import TERMS
from agents.kinds.perfect import PerfectAgent
from agents.registry import Kind
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.search.bind import agent_kernels, called_features, knowledge_names, part_names
from agents.search.compiled_agent import CompiledAgent, value_of
from agents.search.context import KIND, KINDS, MOST_FEATURES, PHASES, SOLVE, UNIT, WEIGHTS, WIN
from games import Game, Position
from games.kernels.jit import Kernel, specialise, unbound
from games.parts import is_users, package_of
from games.solving.solution import after_move, board_order

# How the policies that do not search choose, by their names in KINDS.
POLICIES = {
    "random": "any legal move, by lot",
    "first": "the first move on the board",
    "last": "the last move on the board",
    "nearest_pot": "the hole nearest to the pot",
    "fewest": "the hole with the fewest beans",
}
HIGHEST = "the highest value"
PROVED = "the highest proved margin; of equal ones, the one that leaves the fewest good replies"
VALUED = ("greedy",)  # whose values mean something to people


Bound = Literal["", "<=", ">="]


@dataclass(frozen=True, slots=True)
class MoveView:
    """A legal move as an agent sees it, from the mover's side; without a value it has no view.

    `rank` orders the moves as the agent does; a move that is only bounded from above has none.
    `own` and `theirs` are what the move adds to the score of the mover and of the other side at
    once: beans banked, discs flipped.
    """

    move: int
    value: float | None = None
    bound: Bound = ""  # the value is only a bound
    decided: bool = False  # the value is the margin of a game that is searched to its end
    rank: float | None = None
    depth: int = 0
    nodes: int = 0
    line: tuple[int, ...] = ()
    own: int = 0
    theirs: int = 0


@dataclass(frozen=True, slots=True)
class Term:
    """A feature in the static evaluation: the counts of both sides, and what they add to it."""

    name: str
    weight: float
    own: int
    other: int
    worth: float


def without_noise(spec: AgentSpec, kind: Kind) -> AgentSpec:
    """The spec of the agent as it plays when chance does not take its move away."""
    return spec.replace(epsilon=None) if kind.option("epsilon") else spec


def search_of(agent: Agent, choice: Choice) -> CompiledAgent | SandboxedAgent | None:
    """The search that made the choice; None if the agent chose without one."""
    if isinstance(agent, PerfectAgent):
        return None if agent.proved else search_of(agent.smart, choice)
    if isinstance(agent, CompiledAgent):
        return agent if agent.limit is not None else None
    return agent if isinstance(agent, SandboxedAgent) and agent.searches else None


def move_views(agent: Agent, of: Game, position: Position, choice: Choice) -> Iterator[MoveView]:
    """Every legal move in the order of the board; `choice` is the agent's answer here."""
    legal = moves_on_board(of, position)
    if legal == [of.pass_move]:
        yield MoveView(
            legal[0],
            choice.value,
            decided=choice.exact,
            depth=choice.depth,
            nodes=choice.nodes,
            line=choice.line,
        )
    elif search := search_of(agent, choice):
        yield from views_of_search(search, position, legal, choice)
    elif isinstance(agent, PerfectAgent):
        yield from views_of_proof(agent, position, choice)
    elif isinstance(agent, CompiledAgent):
        yield from (by_policy(agent, position, move) for move in legal)
    else:
        for move in legal:
            own, theirs = gains(of, position, move)
            yield MoveView(move, own=own, theirs=theirs)


def moves_on_board(of: Game, position: Position) -> list[int]:
    """The legal moves as the board is drawn, left to right, as searches break ties; a swap last."""
    legal = of.legal(position)
    moves = [move for move in legal if move != of.swap_move]
    if position.side == 1 and knowledge_names(of.family_name)["TIES_BY_SIDE"]:
        moves.reverse()
    return moves + [move for move in legal if move == of.swap_move]


def views_of_search(
    search: CompiledAgent | SandboxedAgent, position: Position, legal: list[int], choice: Choice
) -> Iterator[MoveView]:
    """Every move by the agent's own search, all to the depth at which the choice was made.

    A search only asks whether a move beats the best one. With ProbCut it skips branches there,
    and within a budget it takes bounds of deeper searches and the first moves of a depth that it
    does not finish. Searched alone, such a move may be worth more. The choice rests on the answer
    to that question, so the move is shown as worth at most the chosen one.
    """
    best, depth = search.score, max(1, choice.depth)
    by_lot = search.spec.options.get("random_ties", False)
    earlier = not by_lot  # whether the move stands before the chosen one and so wins ties
    for move in legal:
        if choice.depth and move == choice.move:
            found, bounded, earlier = SearchedMove(best, 0, choice.line), False, False
        else:
            found = search.search_move(position, move, depth)
            better = found.score > best or (found.score == best and earlier)
            bounded = better and choice.depth > 0
        score = best if bounded else found.score
        own, theirs = gains(search.game, position, move)
        yield MoveView(
            move,
            value_of(score),
            "<=" if bounded else "",
            decided=abs(score) >= WIN or depth == SOLVE,
            rank=None if bounded else score,
            depth=depth,
            nodes=found.nodes,
            line=found.line,
            own=own,
            theirs=theirs,
        )


def views_of_proof(agent: PerfectAgent, position: Position, choice: Choice) -> Iterator[MoveView]:
    """Every move by its exact margin, as far as the agent's budget proves it."""
    of, solver, allowance = agent.game, agent.solver, agent.allowance()
    limits = solver.questions.limits(position)
    for move in board_order(of, position):
        *_, found = after_move(solver, position, move, allowance, limits)
        scores = gains(of, position, move)
        if move == choice.move:
            bound: Bound = "" if choice.exact else ">="
            yield MoveView(move, choice.value, bound, True, None, SOLVE, 0, (move,), *scores)
        elif found.exact:
            yield MoveView(move, found.low, "", True, None, SOLVE, 0, (move,), *scores)
        else:
            yield MoveView(move, own=scores[0], theirs=scores[1])


def by_policy(agent: CompiledAgent, position: Position, move: int) -> MoveView:
    """A move as a policy that does not search values it."""
    own, theirs = gains(agent.game, position, move)
    if policy_of(agent) not in VALUED:
        return MoveView(move, own=own, theirs=theirs)
    slot = agent.game.slots_of(move)
    value = int(policy_value(agent.game.family_name)(agent.context, position.state, slot, 0))
    return MoveView(move, value, rank=value, line=(move,), own=own, theirs=theirs)


@cache
def policy_value(family_name: str) -> Kernel:
    """The value of a move to a policy, for Python to ask: compiled once, and kept on disk."""
    kernels = vars(agent_kernels(family_name))
    template = unbound(kernels["simple_value"])
    if is_users(package_of(family_name)):  # what a user's file holds is not kept
        return cast("Kernel", kernels["simple_value"])
    suffix = f"{importlib.import_module(family_name).FAMILY}_explained"
    value: Kernel = specialise(suffix, [template], **kernels).simple_value
    return value


def policy_of(agent: CompiledAgent) -> str:
    """The name of the agent's policy or search."""
    return KINDS[int(agent.context[KIND])]


def gains(of: Game, position: Position, move: int) -> tuple[int, int]:
    """What a move adds to the score of the mover and of the other side."""
    before, after = of.raw_score(position), of.raw_score(of.play(position, move))
    mover = position.mover
    return after[mover] - before[mover], after[1 - mover] - before[1 - mover]


def static_value(agent: CompiledAgent, position: Position) -> float:
    """The evaluation of the position itself, from the mover's side."""
    if agent.by_tables:
        return int(agent.kernels.standing(agent.context, position.state)) / UNIT
    return int(agent.kernels.weighted_features(agent.context, position.state)) / UNIT


def terms(agent: CompiledAgent, position: Position) -> Iterator[Term]:
    """What each feature with a weight adds to the static evaluation."""
    of, context, state = agent.game, agent.context, position.state
    if agent.by_tables:  # thousands of weights: `pitflip learn --show` draws them
        return
    bound = called_features(of.family_name)
    kind = part_names(of.family_name, "features").get("TERM", "difference")
    compare = unbound(TERMS[kind][0])
    # As a plain function: compiled, it would be so in every process. Without `restored` the
    # features would be compiled for plain numbers.
    other_side = of.family.restored(unbound(bound["turned"])(state))
    base, phases = WEIGHTS, int(context[PHASES])
    if phases > 1:
        base += MOST_FEATURES * int(bound["progress"](context, state, phases))
    for place, name in enumerate(of.all_features):
        weight = int(context[base + place]) / UNIT
        if weight:
            own, other = (int(bound[name](context, side)) for side in (state, other_side))
            yield Term(name, weight, own, other, weight * compare(own, other))


def rule_of(agent: Agent, moves: list[MoveView], choice: Choice) -> str:
    """By which rule the chosen move was taken from all."""
    if len(moves) == 1:
        return "the only legal move"
    search = search_of(agent, choice)
    if search and not choice.depth:
        return "its limit ended its first search: the best of the moves that it had seen until then"
    if isinstance(agent, PerfectAgent) and agent.proved:
        return PROVED if choice.exact else f"{PROVED}; its budget proves a win, not every margin"
    rule = HIGHEST
    if isinstance(agent, CompiledAgent) and search is None:
        rule = POLICIES.get(policy_of(agent), HIGHEST)
    elif search is None:
        return "its own, which it does not tell"
    elif isinstance(agent, PerfectAgent):
        rule = f"its budget proves nothing, so it plays as smart does: {HIGHEST}"
    ranks = [each.rank for each in moves if each.rank is not None]
    if not ranks or (equal := ranks.count(max(ranks))) == 1:
        return rule
    return f"{rule}; of {equal} equal moves {tie_rule(agent)}"


def tie_rule(agent: Agent) -> str:
    """Which of several equal moves is played."""
    if agent.spec.options.get("random_ties"):
        return "one by lot"
    return "the first on the board"


def meaning_of_value(agent: Agent) -> str:
    """What a value of the agent's counts, in a line; empty if it is an evaluation or margin."""
    if isinstance(agent, CompiledAgent) and policy_of(agent) == "greedy":
        doc = knowledge_names(agent.game.family_name)["gain"].__doc__ or ""
        return str(doc).partition("\n")[0]
    return ""


def plies_of(depth: int) -> str:
    """A depth as it is printed."""
    return "end" if depth == SOLVE else str(depth)
