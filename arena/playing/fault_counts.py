"""Faults of bots as they are counted: those beside finished games, and timeouts in all."""

from collections.abc import Iterable, Mapping

from agents import users_code
from agents.bot_options import MOST_RESTARTS, MOST_TIMEOUTS, TIMEOUT_SECONDS
from arena.planning.drawing import DrawnPlan
from arena.planning.records import Termination
from arena.planning.tasks import Unasked
from arena.planning.time_controls import time_control

# Faults after which a process must be started again.
ENDING = frozenset(
    Termination[name]
    for name in ("TIMEOUT", "CRASHED", "MEMORY", "FLOODED", "UNLOADABLE", "UNREADABLE")
)


class FaultCounts:
    """Counts games in schedule order and says who is not asked any more."""

    def __init__(self, drawn: DrawnPlan, out: Mapping[int, Unasked]) -> None:
        """`out` are those who are not asked from the beginning, by place."""
        self.drawn, self.out = drawn, dict(out)
        self.bots = [place for place, spec in enumerate(drawn.specs) if users_code(spec)]
        self.failures = dict.fromkeys(self.bots, 0)  # games that ended the bot's process
        self.finished = dict.fromkeys(self.bots, 0)
        self.timeouts = dict.fromkeys(self.bots, 0)

    def count(self, places: Iterable[int], guilty: int | None, how: Termination) -> bool:
        """Count a game of these agents; whether the guilty one is not asked any more."""
        for place in places:
            if place != guilty and how.fair and place in self.finished:
                self.finished[place] += 1
        if guilty is None or guilty not in self.finished:
            return False
        (self.failures if how in ENDING else self.finished)[guilty] += 1
        self.timeouts[guilty] += how is Termination.TIMEOUT
        if reason := self._enough(guilty, how):
            self.out[guilty] = Unasked(how, reason)
        return bool(reason)

    def _enough(self, place: int, how: Termination) -> str:
        """Why it is not asked any more; empty if it is."""
        options = self.drawn.specs[place].options
        # Counted beside finished games: a bot that fails now and then fails ten times in a row by
        # chance, and would play most of the rest.
        most = options.get("max_restarts", MOST_RESTARTS) * (1 + self.finished[place])
        if how in ENDING and (failures := self.failures[place]) >= most:
            games = failures + self.finished[place]
            last = how.name.lower()
            return f"is not started again: it failed in {failures} of {games} games (last: {last})"
        seconds = time_control(self.drawn.plan, self.drawn.specs[place]).move
        usual = max(1, min(MOST_TIMEOUTS, int(TIMEOUT_SECONDS / seconds)))
        most = options.get("max_timeouts", usual)
        if self.timeouts[place] >= most:
            return f"is not started again: {most} games in all were lost by timeout"
        return ""
