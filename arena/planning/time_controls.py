"""How long an agent may think: for a move, for a turn with its extra turns, for a game."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agents import AgentSpec, searches, users_code
from agents.wall.bot_terms import Terms
from arena.planning.plan import Plan

BOT_MOVE_SECONDS = 5.0  # of a bot that has no other limit
MOVE_SECONDS = 60.0  # of all other agents


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The limits of one agent, in seconds; None where there is none."""

    move: float
    turn: float | None = None
    game: float | None = None
    increment: float = 0.0  # added to the game's rest after every move

    @property
    def by_the_clock(self) -> bool:
        """Whether how long one move may take depends on how long others took."""
        return self.turn is not None or self.game is not None


def time_control(plan: Plan, spec: AgentSpec) -> TimeControl:
    """The limits of the agent's own table, else those of the experiment."""
    own, move = spec.options, plan.move_seconds
    turn = own.get("turn_seconds", plan.turn_seconds)
    game = own.get("game_seconds", plan.game_seconds)
    if not searches(spec) and "seconds" in own:  # of a search they are its own aim
        move = min(MOVE_SECONDS if move is None else move, own["seconds"])
    if move is None:
        clocked = turn is not None or game is not None
        move = BOT_MOVE_SECONDS if is_bot(spec) and not clocked else MOVE_SECONDS
    increment = own.get("increment", plan.increment) if game else 0.0
    return TimeControl(move, turn, game, increment)


def is_bot(spec: AgentSpec) -> bool:
    """Whether a user's program or function chooses the moves, not a search of ours."""
    return not searches(spec) and (users_code(spec) is not None or "port" in spec.options)


def default_move_seconds(agents: Iterable[AgentSpec]) -> float | None:
    """The limit of a plan that names none; None if it depends on the agent."""
    return None if any(map(is_bot, agents)) else MOVE_SECONDS


def with_own_seconds(terms: Terms, plan: Plan, spec: AgentSpec) -> Terms:
    """The terms on which this agent plays: `seconds` is its own limit for a move."""
    return replace(terms, seconds=time_control(plan, spec).move)
