"""Time controls: limits of moves, turns and games, and the clock that charges them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agents.core import MOVE_SECONDS, AgentSpec, HostSettings
from agents.options import MAX_TIMEOUTS, TIMEOUT_SECONDS
from agents.registry import is_search, user_code_reason
from arena.planning.plan import Plan
from games.base.schema import parse_game_time

BOT_MOVE_SECONDS = 5.0  # for a bot without another limit
BILLION = 1_000_000_000
# Shares of the remaining time that a search uses for one move.
TURN_SHARE, GAME_SHARE, INCREMENT_SHARE = 0.5, 0.05, 0.8
MIN_SECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The limits of one agent, in seconds; None: no limit."""

    move: float
    turn: float | None = None
    game: float | None = None
    increment: float = 0.0  # added to the rest of the game's time after every move

    @property
    def has_shared_clock(self) -> bool:
        """True if the time for one move depends on the time that earlier moves took."""
        return self.turn is not None or self.game is not None


def time_control(plan: Plan, spec: AgentSpec) -> TimeControl:
    """Return the limits of the agent's own table, or else those of the experiment."""
    own, move = spec.options, plan.move_seconds
    turn = own.get("turn_seconds", plan.turn_seconds)
    game, increment = plan.game_seconds, plan.increment
    if own_time := parse_game_time(own.get("game_time", "")):
        game, increment = own_time
    if not is_search(spec) and "seconds" in own:  # a search aims at its own `seconds`
        move = min(MOVE_SECONDS if move is None else move, own["seconds"])
    if move is None:
        has_clock = turn is not None or game is not None
        move = BOT_MOVE_SECONDS if is_bot(spec) and not has_clock else MOVE_SECONDS
    return TimeControl(move, turn, game, increment if game else 0.0)


def is_bot(spec: AgentSpec) -> bool:
    """Return whether a user's program or function chooses the moves, not a search of ours."""
    return not is_search(spec) and user_code_reason(spec) is not None


def default_move_seconds(agents: Iterable[AgentSpec]) -> float | None:
    """Return the limit of a plan without one; None if it depends on the agent."""
    return None if any(map(is_bot, agents)) else MOVE_SECONDS


def agent_settings(host: HostSettings, plan: Plan, name: str, spec: AgentSpec) -> HostSettings:
    """Return the settings with the agent's name and its own limit for a move."""
    return replace(host, move_seconds=time_control(plan, spec).move, name=name)


def max_timeouts(plan: Plan, spec: AgentSpec) -> int:
    """Return the number of timeouts in a run that disqualifies a bot."""
    seconds = time_control(plan, spec).move
    default = max(1, min(MAX_TIMEOUTS, int(TIMEOUT_SECONDS / seconds)))
    return int(spec.options.get("max_timeouts", default))


class AgentClock:
    """The clock of one agent in one game."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.turn, self.game = control.turn, control.game  # seconds left
        self.nodes = self.nanoseconds = self.moves = self.lag = 0
        self.longest = self.longest_turn = 0
        self._turn = 0  # nanoseconds of the turn so far

    def seconds_left(self) -> float:
        """Return the seconds left for the next move."""
        limits = (self.control.move, self.turn, self.game)
        return max(0.0, min(each for each in limits if each is not None))

    def seconds_left_text(self) -> str:
        """Return which clock limits the next move; "" if it is that of a single move."""
        control, left = self.control, self.seconds_left()
        if left >= control.move:
            return ""
        if self.game is not None and self.game <= left:
            return f", the rest of its {control.game:g} s for the game"
        return f", the rest of its {control.turn:g} s for the turn"

    def search_seconds(self) -> float | None:
        """Return the seconds that a search should take; None if only its own limit counts."""
        if not self.control.has_shared_clock:
            return None
        shares = [self.seconds_left()]
        if self.turn is not None:
            shares.append(TURN_SHARE * self.turn)
        if self.game is not None:
            saved = INCREMENT_SHARE * self.control.increment
            shares.append(min(GAME_SHARE * self.game + saved, TURN_SHARE * self.game))
        return max(MIN_SECONDS, min(shares))

    def charge(self, nanoseconds: int, lag: int) -> int:
        """Charge a move and return its thinking time: its time without the lag.

        The lag is the time in which the agent was ready but could not run.
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
        """Start a new turn, because the other agent moves next."""
        self.turn, self._turn = self.control.turn, 0
