"""Why an agent plays what it plays: every legal move, and the position, as it values them."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

from agents.compiled import CompiledAgent, value_of
from agents.core import Agent, AgentSpec, Choice, Limit
from agents.kernels.bind import agent_kernels, called_features, knowledge_names, part_names
from agents.kernels.layout import KIND, KINDS, MOST_FEATURES, PHASES, SOLVE, UNIT, WEIGHTS, WIN
from agents.kernels.terms import TERMS
from agents.kinds import Kind
from games import Game, Position
from games.kernels.jit import Kernel, specialise, unbound
from games.pack import is_users, package_of
from games.solving.solution import board_order

# How the policies that do not search choose, by their names in KINDS.
POLICIES = {
    "random": "any legal move, by lot",
    "first": "the first move on the board",
    "last": "the last move on the board",
    "nearest_pot": "the hole nearest to the pot",
    "fewest": "the hole with the fewest beans",
}
HIGHEST = "the highest value"
VALUED = ("greedy",)  # whose values mean something to people


@dataclass(frozen=True, slots=True)
class MoveView:
    """A legal move as an agent sees it, from the mover's side; without a value it has no view.

    `rank` orders the moves as the agent does. `own` and `theirs` are what the move adds to the
    score of the mover and of the other side at once: beans banked, discs flipped.
    """

    move: int
    value: float | None = None
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
    return spec.changed(epsilon=None) if kind.option("epsilon") else spec


def move_views(agent: Agent, of: Game, position: Position, choice: Choice) -> Iterator[MoveView]:
    """Every legal move in the order of the board; `choice` is the agent's answer here."""
    legal = board_order(of, position)
    if legal == [of.pass_move]:
        yield MoveView(
            legal[0], choice.value, choice.exact, None, choice.depth, choice.nodes, choice.line
        )
        return
    for move in legal:
        if not isinstance(agent, CompiledAgent):
            yield asked(agent, of, position, move, choice)
        elif agent.limit is None:
            yield by_policy(agent, position, move)
        else:
            yield searched(agent, position, move, choice)


def searched(agent: CompiledAgent, position: Position, move: int, choice: Choice) -> MoveView:
    """A move by the agent's own search, as deep as its choice was searched."""
    depth = max(1, choice.depth)  # 0: the limit came before the end of the first ply
    score, nodes, line = agent.after(position, move, depth)
    value, decided = value_of(score), abs(score) >= WIN or depth == SOLVE
    own, theirs = gains(agent.game, position, move)
    return MoveView(move, value, decided, score, depth, nodes, line, own, theirs)


def by_policy(agent: CompiledAgent, position: Position, move: int) -> MoveView:
    """A move as a policy that does not search values it."""
    own, theirs = gains(agent.game, position, move)
    if policy_of(agent) not in VALUED:
        return MoveView(move, own=own, theirs=theirs)
    slot = agent.game.slots_of(move)
    value = int(policy_value(agent.game.family_name)(agent.context, position.state, slot, 0))
    return MoveView(move, value, False, value, 0, 0, (move,), own, theirs)


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


def asked(agent: Agent, of: Game, position: Position, move: int, choice: Choice) -> MoveView:
    """A move by what an agent in a process of its own says about the position after it."""
    child, scores = of.play(position, move), gains(of, position, move)
    if of.over(child):
        margin = of.margin(child) * (1 if position.mover == 0 else -1)
        return MoveView(move, margin, True, margin, 0, 0, (move,), *scores)
    plies = agent.spec.options.get("depth")
    if choice.value is None or plies == 1:
        return MoveView(move, own=scores[0], theirs=scores[1])
    reply = agent.choose(child, Limit(depth=plies - 1) if plies else None)
    if reply.value is None:
        return MoveView(move, own=scores[0], theirs=scores[1])
    value = reply.value if child.mover == position.mover else -reply.value
    depth = plies or min(SOLVE, reply.depth + 1)
    line = (move, *(reply.line or (reply.move,)))
    return MoveView(move, value, reply.exact, value, depth, reply.nodes, line, *scores)


def static_value(agent: CompiledAgent, position: Position) -> float:
    """The evaluation of the position itself, from the mover's side."""
    if agent.by_tables:
        return int(agent.kernels.standing(agent.context, position.state)) / UNIT
    return int(agent.kernels.weighted_features(agent.context, position.state)) / UNIT


def terms(agent: CompiledAgent, position: Position) -> Iterator[Term]:
    """What each feature with a weight adds to the static evaluation."""
    of, context, state = agent.game, agent.context, position.state
    if agent.by_tables:  # thousands of weights: `arena.weights show` draws them
        return
    bound = called_features(of.family_name)
    kind = part_names(of.family_name, "features").get("TERM", "difference")
    compare = unbound(TERMS[kind][0])
    other_side = of.family.restored(
        bound["turned"](state)
    )  # else all is compiled for plain numbers
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
    policy = policy_of(agent) if isinstance(agent, CompiledAgent) else None
    rule = HIGHEST if policy is None else POLICIES.get(policy, HIGHEST)
    ranks = [each.rank for each in moves if each.rank is not None]
    chosen = next(each for each in moves if each.move == choice.move)
    if len(ranks) < len(moves):
        return rule if policy else "its own, which it does not tell"
    if chosen.rank != max(ranks):
        return "its own: values that are searched deeper may differ"
    if (equal := ranks.count(max(ranks))) == 1:
        return rule
    return f"{rule}; of {equal} equal moves {tie_rule(agent)}"


def tie_rule(agent: Agent) -> str:
    """Which of several equal moves is played."""
    if agent.spec.options.get("random_ties"):
        return "one by lot"
    searches = isinstance(agent, CompiledAgent) or agent.spec.options.get("evaluate")
    return "the first on the board" if searches else "one by its own rule"


def meaning_of_value(agent: Agent) -> str:
    """What a value of the agent's counts, in a line; empty if it is an evaluation or margin."""
    if isinstance(agent, CompiledAgent) and policy_of(agent) == "greedy":
        doc = knowledge_names(agent.game.family_name)["gain"].__doc__ or ""
        return str(doc).partition("\n")[0]
    return ""


def plies_of(depth: int) -> str:
    """A depth as it is printed."""
    return "end" if depth == SOLVE else str(depth)
