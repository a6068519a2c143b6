"""How long an agent may think: for a move, for a turn with its extra turns, for a game."""

from dataclasses import dataclass

from agents import AgentSpec, searches
from arena.planning.plan import Plan


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
    own = spec.options
    move = plan.move_seconds
    if not searches(spec) and "seconds" in own:  # of a search they are its own aim
        move = min(move, own["seconds"])
    game = own.get("game_seconds", plan.game_seconds)
    return TimeControl(
        move,
        own.get("turn_seconds", plan.turn_seconds),
        game,
        own.get("increment", plan.increment) if game else 0.0,
    )
