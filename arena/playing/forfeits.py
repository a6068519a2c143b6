"""When a bot is disqualified."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from agents.fault_text import fault_text
from arena.planning.games import (
    LOSS,
    RESULT_COLUMNS,
    Batch,
    GameColumn,
    Games,
    Termination,
    decode_games,
    encode_games,
    pair_points,
)
from arena.planning.schedule import DrawnPlan
from arena.planning.tasks import Disqualification
from arena.playing.fault_counts import FaultCounter
from arena.playing.referee_loop import EXCLUDED, EarlyFault, forfeit_record, games_from_records
from games.base.errors import UserError

log = logging.getLogger(__name__)
Columns = Callable[[int, int], dict[str, GameColumn]]  # of pairings from the first to the second


class UselessBots(UserError):  # noqa: N818  # a state, not a fault
    """Bots that do not load or fail all their games, where the plan does not go on without them."""

    def __init__(self, verdicts: Mapping[str, str]) -> None:
        """`verdicts` say of agents, by name, what became of them."""
        super().__init__("\n".join(f"{name} {verdicts[name]}" for name in verdicts))
        self.verdicts = dict(verdicts)


class ForfeitRule:
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
        first = {
            at: Disqualification(Termination.UNLOADABLE, why) for at, why in unloadable.items()
        }
        self.counts = FaultCounter(drawn, first)
        self.since = dict.fromkeys(first, 0)  # an excluded agent's first unplayed game
        self.unplayed = Counter[int]()  # games, by the agent that forfeits them
        self.told: set[tuple[int, str]] = set()  # faults that stand in the log
        self.shown: set[int] = set()  # agents whose first fault is on the terminal
        self.first: dict[int, EarlyFault] = {}  # in schedule order
        for place in first:
            self._tell(place)

    def cut(self, batch: Batch) -> Batch:
        """The batch as the rule has it: games after the last fault are forfeited unplayed."""
        if not self.counts.bots:
            return batch
        games = decode_games([batch.games], self.columns(batch.start, batch.stop))
        ruled = self.take(games, 2 * batch.start)
        if ruled is games:
            return batch
        return batch._replace(games=encode_games(ruled), points=pair_points(ruled))

    def take(self, games: Games, start: int = 0) -> Games:
        """Count the faults of games; those of agents that are out are forfeited unplayed.

        `start` is the number of the first of them in the run.
        """
        bots, forfeited = self.counts.bots, dict[int, tuple[int, Disqualification]]()
        involved = np.isin(games.first, bots) | np.isin(games.second, bots)
        for row in np.flatnonzero(involved).tolist():
            places = int(games.first[row]), int(games.second[row])
            out = next((seat for seat in (0, 1) if places[seat] in self.counts.out), None)
            if out is not None:
                forfeited[row] = out, self.counts.out[places[out]]
                self.unplayed[places[out]] += 1
                continue
            how = Termination(int(games.termination[row]))
            guilty = None if how.fair else places[0 if games.result[row] == LOSS else 1]
            trace = games.traces.get(row, "")
            assert trace != EXCLUDED.reason, "a worker left out a game that is to be played"
            if guilty is not None:
                number = start + row
                fault = EarlyFault(guilty, number, fault_text(how.name.lower(), trace))
                self.first.setdefault(guilty, fault)
                self.show_first(fault)
                self._log(fault, trace)
            if self.counts.count(places, guilty, how, trace) and guilty is not None:
                self.since[guilty] = start + row + 1
                self._tell(guilty)
        return forfeit_games(self.drawn, games, forfeited) if forfeited else games

    def show_first(self, fault: EarlyFault) -> None:
        """Print the first fault of each agent, at once."""
        if self.tell is not None and fault.place not in self.shown:
            self.shown.add(fault.place)
            name = self.drawn.plan.names[fault.place]
            self.tell(f"{name}: {fault.text} (game {fault.game})")

    def refuse(self, over: bool = False) -> None:
        """Raise UselessBots if the plan does not go on without bots that fail all their games.

        Where it goes on, and no game is left (`over`), say which these are.
        """
        useless = [place for place in self.counts.useless if over or place in self.counts.out]
        if self.drawn.plan.unloadable_stops and useless:
            raise UselessBots({self.drawn.plan.names[at]: self._verdict(at) for at in useless})
        for place in useless:
            if over and self.tell is not None and place not in self.counts.out:
                self.tell(f"{self.drawn.plan.names[place]} {self._verdict(place)}")

    def _verdict(self, place: int) -> str:
        """What became of a bot that finished no game."""
        if place not in self.first:
            return self.counts.out[place].reason
        fault, games = self.first[place], self.counts.failures[place]
        return f"failed all its {games} games; in game {fault.game} it {fault.text}"

    def _log(self, fault: EarlyFault, trace: str) -> None:
        """Write a fault into the log, if none like it stands there."""
        if self.tell is not None and (fault.place, fault.text) not in self.told:
            self.told.add((fault.place, fault.text))
            name = self.drawn.plan.names[fault.place]
            log.warning("%s forfeits game %d: %s\n%s", name, fault.game, fault.text, trace)

    def reason(self, place: int) -> str:
        """Return why an agent is excluded, in one line."""
        out = self.counts.out[place]
        return fault_text(out.termination.name.lower(), out.reason)

    def _tell(self, place: int) -> None:
        """Say that an agent forfeits the rest of its games unplayed, and why."""
        if self.tell is None:
            return
        name, text = self.drawn.plan.names[place], self.reason(place)
        log.warning("%s %s", name, text if place in self.first else self.counts.out[place].reason)
        if not (self.drawn.plan.unloadable_stops and place in self.counts.useless):
            self.tell(f"{name} {text}; its other games are forfeited unplayed")


def forfeit_games(
    drawn: DrawnPlan, games: Games, forfeited: Mapping[int, tuple[int, Disqualification]]
) -> Games:
    """The games, of which some rows (seat and reason) are forfeited unplayed."""
    rows = list(forfeited)
    instead = games_from_records(
        drawn.of, [forfeit_record(drawn.of, *forfeited[row]) for row in rows], False
    )
    columns = {name: games.columns[name].copy() for name in RESULT_COLUMNS if name in games.columns}
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
