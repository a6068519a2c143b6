"""Count the faults of bots and decide which bots are excluded."""

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


def most_timeouts(drawn: DrawnPlan, place: int) -> int:
    """Return how many timeouts in all exclude a bot."""
    seconds = time_control(drawn.plan, drawn.specs[place]).move
    usual = max(1, min(MAX_TIMEOUTS, int(TIMEOUT_SECONDS / seconds)))
    return int(drawn.specs[place].options.get("max_timeouts", usual))


class FaultCounter:
    """Counts the games of a run in schedule order and decides which bots are excluded."""

    def __init__(self, drawn: DrawnPlan, out: Mapping[int, Disqualification]) -> None:
        """`out` are the bots that are excluded from the beginning, by place."""
        self.drawn, self.out = drawn, dict(out)
        self.bots = [place for place, spec in enumerate(drawn.specs) if users_code(spec)]
        self.ended = dict.fromkeys(self.bots, 0)  # games that ended the bot's process
        self.kept = dict.fromkeys(self.bots, 0)  # games after which its process went on
        self.timeouts = dict.fromkeys(self.bots, 0)
        self.faults = dict[int, str]()  # the last fault of each bot
        self.finished: set[int] = set()  # bots that have finished a game
        self.failures = dict.fromkeys(self.bots, 0)  # of bots before their first finished game

    def count(
        self, places: Iterable[int], guilty: int | None, how: Termination, trace: str = ""
    ) -> bool:
        """Count a game of these agents; return whether the guilty one is excluded by it.

        `trace` is the text of its fault.
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
        self.faults[guilty] = fault_text(how.name.lower(), trace)
        if reason := self._exclusion(guilty, how):
            self.out[guilty] = Disqualification(how, reason)
        return bool(reason)

    @property
    def useless(self) -> list[int]:
        """The bots that have failed games and have finished none."""
        failed = {*self.out, *(place for place in self.bots if self.failures[place])}
        return sorted(failed - self.finished)

    def _exclusion(self, place: int, how: Termination) -> str:
        """Return why a bot is excluded; empty if it is not."""
        if place not in self.finished and self.failures[place] >= FIRST_GAMES:
            return (
                f"is excluded: it failed its first {FIRST_GAMES} games and finished none; "
                f"last fault: {self.faults[place]}"
            )
        # Relative to finished games: a bot that fails now and then also fails ten times in a row by
        # chance, and would play most of the rest.
        if how in PROCESS_ENDING and self.ended[place] >= MOST_RESTARTS * (1 + self.kept[place]):
            failures, games = self.ended[place], self.ended[place] + self.kept[place]
            last = how.name.lower()
            return f"{NOT_AGAIN}: it failed in {failures} of {games} games (last: {last})"
        most = most_timeouts(self.drawn, place)
        if self.timeouts[place] >= most:
            return f"{NOT_AGAIN}: {most} games in all were lost by timeout"
        return ""
