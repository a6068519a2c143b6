"""Faults of bots as they are counted: in their first games, beside other games, timeouts in all."""

from collections.abc import Iterable, Mapping

from agents.fault_text import fault_text
from agents.options import MAX_TIMEOUTS, TIMEOUT_SECONDS
from agents.registry import users_code
from arena.planning.games import Termination
from arena.planning.schedule import DrawnPlan
from arena.planning.tasks import Disqualification
from arena.playing.clock import time_control

# Faults after which a process must be started again.
PROCESS_ENDING = frozenset(
    Termination[name]
    for name in ("TIMEOUT", "CRASHED", "MEMORY", "FLOODED", "UNLOADABLE", "UNREADABLE")
)

NOT_AGAIN = "is not started again"
MOST_RESTARTS = 10  # before a bot finishes a game, and as many more for each that it finishes
FIRST_GAMES = 3  # a bot that fails them, and finishes none before, is excluded


class FaultCounter:
    """Counts games in schedule order and says who is not asked any more."""

    def __init__(
        self, drawn: DrawnPlan, out: Mapping[int, Disqualification], part: bool = False
    ) -> None:
        """`out` are those who are not asked from the beginning, by place.

        A `part` of the games, such as one task, shows neither which games of a bot are its first
        nor how many it has finished: only timeouts in all decide there.
        """
        self.drawn, self.out, self.part = drawn, dict(out), part
        self.bots = [place for place, spec in enumerate(drawn.specs) if users_code(spec)]
        self.ended = dict.fromkeys(self.bots, 0)  # games that ended the bot's process
        self.kept = dict.fromkeys(self.bots, 0)  # games after which its process went on
        self.timeouts = dict.fromkeys(self.bots, 0)
        self.faults = dict[
            int, str
        ]()  # the last fault of each bot in a game for which it was asked
        self.failing: set[int] = set()  # bots with a fault, whether it was counted or not
        self.finished: set[int] = set()  # bots that have finished a game
        self.failures = dict.fromkeys(self.bots, 0)  # of bots before their first finished game

    def count(
        self, places: Iterable[int], guilty: int | None, how: Termination, trace: str = ""
    ) -> bool:
        """Count a game of these agents; whether the guilty one is not asked any more.

        `trace` is what is known of its fault.
        """
        for place in places:
            if place in self.ended and how.fair:
                self.finished.add(place)
                self.kept[place] += place != guilty
        if guilty is None or guilty not in self.ended:
            return False
        (self.ended if how in PROCESS_ENDING else self.kept)[guilty] += 1
        self.timeouts[guilty] += how is Termination.TIMEOUT
        self.failures[guilty] += guilty not in self.finished
        if not trace.startswith(NOT_AGAIN):
            self.faults[guilty] = fault_text(how.name.lower(), trace)
        if reason := self._enough(guilty, how, trace):
            self.out[guilty] = Disqualification(how, reason)
        return bool(reason)

    def is_certain(self, places: Iterable[int], guilty: int | None) -> bool:
        """Return whether the rule of the whole run will count a game of these agents, too.

        It replaces the games of excluded bots. A bot that has failed and finished no game may be
        one of these already.
        """
        doubtful = self.failing - self.finished - {guilty}
        if guilty is not None:
            self.failing.add(guilty)
        return doubtful.isdisjoint(places)

    @property
    def useless(self) -> list[int]:
        """The bots that have failed games and have finished none."""
        failed = {*self.out, *(place for place in self.bots if self.failures[place])}
        return sorted(failed - self.finished)

    def _enough(self, place: int, how: Termination, trace: str) -> str:
        """Why it is not asked any more; empty if it is."""
        if not self.part and place not in self.finished and self.failures[place] >= FIRST_GAMES:
            last = self.faults.get(place) or fault_text(how.name.lower(), trace)
            return (
                f"is excluded: it failed its first {FIRST_GAMES} games and finished none; "
                f"last fault: {last}"
            )
        # Counted beside finished games: a bot that fails now and then fails ten times in a row by
        # chance, and would play most of the rest. A part does not show how many it finished before.
        most = MOST_RESTARTS * (1 + self.kept[place])
        if not self.part and how in PROCESS_ENDING and (failures := self.ended[place]) >= most:
            games = failures + self.kept[place]
            last = how.name.lower()
            return f"{NOT_AGAIN}: it failed in {failures} of {games} games (last: {last})"
        seconds = time_control(self.drawn.plan, self.drawn.specs[place]).move
        usual = max(1, min(MAX_TIMEOUTS, int(TIMEOUT_SECONDS / seconds)))
        most = self.drawn.specs[place].options.get("max_timeouts", usual)
        if self.timeouts[place] >= most:
            return f"{NOT_AGAIN}: {most} games in all were lost by timeout"
        return ""
