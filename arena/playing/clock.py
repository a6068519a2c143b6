"""Time controls."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agents.core import AgentSpec, HostSettings
from agents.registry import is_search, users_code
from arena.planning.plan import Plan

BOT_MOVE_SECONDS = 5.0  # of a bot that has no other limit
MOVE_SECONDS = 60.0  # of all other agents
BILLION = 1_000_000_000
# Shares of the remaining time that a search takes: of a turn, which may go on, and of a game.
TURN_SHARE, GAME_SHARE, INCREMENT_SHARE = 0.5, 0.05, 0.8
LEAST_SECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The limits of one agent, in seconds; None where there is none."""

    move: float
    turn: float | None = None
    game: float | None = None
    increment: float = 0.0  # added to the game's rest after every move

    @property
    def has_shared_clock(self) -> bool:
        """Whether the time for one move depends on the time that earlier moves took."""
        return self.turn is not None or self.game is not None


def time_control(plan: Plan, spec: AgentSpec) -> TimeControl:
    """Return the limits of the agent's own table, else those of the experiment."""
    own, move = spec.options, plan.move_seconds
    turn = own.get("turn_seconds", plan.turn_seconds)
    game = own.get("game_seconds", plan.game_seconds)
    if not is_search(spec) and "seconds" in own:  # of a search they are its own aim
        move = min(MOVE_SECONDS if move is None else move, own["seconds"])
    if move is None:
        clocked = turn is not None or game is not None
        move = BOT_MOVE_SECONDS if is_bot(spec) and not clocked else MOVE_SECONDS
    increment = own.get("increment", plan.increment) if game else 0.0
    return TimeControl(move, turn, game, increment)


def is_bot(spec: AgentSpec) -> bool:
    """Return whether a user's program or function chooses the moves, not a search of ours."""
    return not is_search(spec) and users_code(spec) is not None


def default_move_seconds(agents: Iterable[AgentSpec]) -> float | None:
    """Return the limit of a plan without one; None if it depends on the agent."""
    return None if any(map(is_bot, agents)) else MOVE_SECONDS


def with_own_seconds(terms: HostSettings, plan: Plan, spec: AgentSpec) -> HostSettings:
    """Return the settings with this agent's own limit for a move."""
    return replace(terms, seconds=time_control(plan, spec).move)


class AgentClock:
    """Charged with the time of every question."""

    def __init__(self, control: TimeControl) -> None:
        """Start with all the time."""
        self.control = control
        self.turn, self.game = control.turn, control.game  # what is left
        self.nodes = self.nanoseconds = self.chosen = self.lag = 0
        self.longest = self.longest_turn = 0
        self._turn = 0  # nanoseconds of the turn so far

    def rest(self) -> float:
        """Return the seconds left for the next question."""
        rests = (self.control.move, self.turn, self.game)
        return max(0.0, min(each for each in rests if each is not None))

    def think(self) -> float | None:
        """Return the seconds that a search should take; None if only its own limit counts."""
        if not self.control.has_shared_clock:
            return None
        shares = [self.rest()]
        if self.turn is not None:
            shares.append(TURN_SHARE * self.turn)
        if self.game is not None:
            saved = INCREMENT_SHARE * self.control.increment
            shares.append(min(GAME_SHARE * self.game + saved, TURN_SHARE * self.game))
        return max(LEAST_SECONDS, min(shares))

    def charge(self, nanoseconds: int, lag: int) -> int:
        """Charge a question and return its thinking time.

        That is all of it but the `lag`, when the agent could not run.
        """
        own = max(0, nanoseconds - lag)
        self.nanoseconds += own
        self.lag += min(lag, nanoseconds)
        self._turn += own
        self.longest, self.longest_turn = max(self.longest, own), max(self.longest_turn, self._turn)
        if self.turn is not None:
            self.turn -= own / BILLION
        if self.game is not None:
            self.game += self.control.increment - own / BILLION
        return own

    def end_turn(self) -> None:
        """Start a new turn: the other agent moves next."""
        self.turn, self._turn = self.control.turn, 0
