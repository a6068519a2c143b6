"""When a bot is not asked any more: too many faults, counted in schedule order."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from arena.planning.drawing import DrawnPlan
from arena.planning.game_blobs import Batch, decoded, encoded
from arena.planning.records import LOSS, PLAYED, GameColumn, Games, Termination, pair_points
from arena.planning.tasks import Task, Unasked
from arena.playing.fault_counts import FaultCounts
from arena.playing.referee_loop import records, unplayed

log = logging.getLogger(__name__)
Columns = Callable[[int, int], dict[str, GameColumn]]  # of pairings from the first to the second


class FaultRule:
    """Takes the games of a run in schedule order, so that workers and restarts change nothing."""

    def __init__(
        self,
        drawn: DrawnPlan,
        unloadable: Mapping[int, str],
        tell: Callable[[str], object] | None = None,
        columns: Columns | None = None,
    ) -> None:
        """`unloadable` says of places why their agents do not load; without `tell`, silently.

        `columns` are those of the schedule, where it grows.
        """
        self.drawn, self.tell = drawn, tell
        self.columns = columns or drawn.pairings.columns
        first = {at: Unasked(Termination.UNLOADABLE, why) for at, why in unloadable.items()}
        self.counts = FaultCounts(drawn, first)
        self.told: set[tuple[int, str]] = set()  # faults that stand in the log
        for place in first:
            self._tell(place)

    def send(self, task: Task | None) -> Task | None:
        """The task for a worker, with who is out by now."""
        return task and task._replace(out=tuple(self.counts.out.items()))

    def cut(self, batch: Batch) -> Batch:
        """The batch as the rule has it: games after the last fault are forfeited unplayed."""
        if not self.counts.bots:
            return batch
        games = decoded([batch.games], self.columns(batch.start, batch.stop))
        ruled = self.take(games)
        if ruled is games:
            return batch
        return batch._replace(games=encoded(ruled), points=pair_points(ruled))

    def take(self, games: Games) -> Games:
        """Count the faults of games; those of agents that are out are forfeited unplayed."""
        bots, forfeited = self.counts.bots, dict[int, tuple[int, Unasked]]()
        involved = np.isin(games.first, bots) | np.isin(games.second, bots)
        for row in np.flatnonzero(involved).tolist():
            places = int(games.first[row]), int(games.second[row])
            out = next((seat for seat in (0, 1) if places[seat] in self.counts.out), None)
            if out is not None:
                forfeited[row] = out, self.counts.out[places[out]]
                continue
            how = Termination(int(games.termination[row]))
            guilty = None if how.fair else places[0 if games.result[row] == LOSS else 1]
            if guilty is not None:
                self._log(guilty, how, games.traces.get(row, ""))
            if self.counts.count(places, guilty, how) and guilty is not None:
                self._tell(guilty)
        return with_unplayed(self.drawn, games, forfeited) if forfeited else games

    def _log(self, place: int, how: Termination, trace: str) -> None:
        """Write a fault into the log, if none like it stands there."""
        if self.tell is None:
            return
        kind = trace.rpartition("\n")[2] if how is Termination.RAISED else how.name
        if (place, kind) not in self.told:
            self.told.add((place, kind))
            name = self.drawn.plan.names[place]
            log.warning("%s forfeits (%s): %s", name, how.name.lower(), trace)

    def _tell(self, place: int) -> None:
        """Say that an agent forfeits unplayed: the first and the last line of why."""
        if self.tell is None:
            return
        name, reason = self.drawn.plan.names[place], self.counts.out[place].reason
        log.warning("%s %s", name, reason)
        first, *more = reason.splitlines()
        self.tell(f"{name} forfeits unplayed: it {' '.join([first, *more[-1:]])}")


def with_unplayed(
    drawn: DrawnPlan, games: Games, forfeited: Mapping[int, tuple[int, Unasked]]
) -> Games:
    """The games, of which some rows (seat and reason) are forfeited unplayed."""
    rows = list(forfeited)
    instead = records(drawn.of, [unplayed(drawn.of, *forfeited[row]) for row in rows], False)
    columns = {name: games.columns[name].copy() for name in PLAYED if name in games.columns}
    for name, column in columns.items():
        column[rows] = instead.columns[name]
    traces = games.traces | {row: forfeited[row][1].reason for row in rows}
    thoughts = {row: text for row, text in games.thoughts.items() if row not in forfeited}
    moves = games.moves
    if moves is not None:
        keeps = np.ones(len(games), np.bool_)
        keeps[rows] = False
        moves = moves[np.repeat(keeps, games.plies)]
    columns = games.columns | columns
    return replace(games, columns=columns, moves=moves, traces=traces, thoughts=thoughts)
