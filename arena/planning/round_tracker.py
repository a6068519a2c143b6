"""The course of a run: its pairings as they become known, round after round."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import GameColumn
from arena.planning.rounds import Meeting, Participants, Tournament, TournamentStanding
from arena.planning.schedule import DrawnPlan
from arena.planning.schedules.registry import start_tournament


class RoundTracker:
    """Takes results in schedule order; where the schedule goes by rounds it lays the next one.

    What it lays depends on complete rounds alone, so that batches, workers and interruptions
    leave no trace. A schedule without rounds is laid from the first moment.
    """

    def __init__(self, drawn: DrawnPlan) -> None:
        """Nothing is played yet."""
        self.drawn, plan = drawn, drawn.plan
        self.stage: Tournament | None = None
        self._meetings: tuple[Meeting, ...] = ()
        self._points: list[NDArray[np.int8]] = []  # of the round that is played
        if plan.rounds is not None:
            # On an opening that two agents know already they show nothing new.
            most = min(plan.pairs, len(drawn.openings))
            self.stage = start_tournament(plan.rounds, Participants(plan.names, most))
            self._lay()

    @property
    def standing(self) -> TournamentStanding | None:
        """Where a tournament by rounds stands."""
        return None if self.stage is None else self.stage.standing

    @property
    def total(self) -> int:
        """The pairings that are known to be played."""
        return self.drawn.pairings.total

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """The columns of the schedule for pairings `start` to `stop` - 1."""
        return self.drawn.pairings.columns(start, stop)

    def take(self, start: int, points: NDArray[np.int8]) -> None:
        """Take the points of the pairings from `start` on."""
        if self.stage is None:
            return
        self._points.append(points)
        if start + len(points) < self.total:
            return
        scores = np.concatenate(self._points)
        ends = np.cumsum([meeting.pairings for meeting in self._meetings])
        assert ends[-1] == len(scores)  # batches end where rounds do
        self.stage = self.stage.after(np.split(scores, ends[:-1]))
        self._lay()

    def follow(self, points: NDArray[np.int8]) -> None:
        """Take the points of all pairings that were played, as far as they make whole rounds."""
        at = 0
        while self.stage is not None and at < self.total <= len(points):
            end = self.total
            self.take(at, points[at:end])
            at = end

    def _lay(self) -> None:
        assert self.stage is not None
        self._meetings, self._points = tuple(self.stage.meetings), []
        pairings = self.drawn.pairings.and_then(self._meetings)
        self.drawn = replace(self.drawn, pairings=pairings)
