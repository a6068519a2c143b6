"""Disqualify bots with too many faults, which are counted in schedule order."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from agents.fault_text import fault_text
from agents.registry import user_code_reason
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
from arena.planning.schedule import Schedule
from arena.planning.tasks import Disqualification
from arena.playing.clock import max_timeouts
from arena.playing.referee_loop import DISQUALIFIED, EarlyFault, forfeit_record, games_from_records
from games.base.errors import UserError, printable

# Faults after which the bot's process must be started again.
PROCESS_ENDING = frozenset(
    Termination[name]
    for name in ("TIMEOUT", "CRASHED", "MEMORY", "FLOODED", "UNLOADABLE", "UNREADABLE")
)
NOT_AGAIN = "is not started again"
MAX_RESTARTS = 10  # before a bot finishes a game, and as many more for each game that it finishes
FIRST_GAMES = 3  # a bot that fails them all is disqualified
log = logging.getLogger(__name__)
Columns = Callable[[int, int], dict[str, GameColumn]]  # of the schedule, from pair to pair


class UselessBots(UserError):  # noqa: N818  # a state, not a fault
    """Required bots do not load or fail all their games."""

    several_lines = True

    def __init__(self, verdicts: Mapping[str, str]) -> None:
        """`verdicts` are sentences about the bots, by name."""
        text = "\n".join(f"{name} {verdicts[name]}".replace("\n", "\n  ") for name in verdicts)
        super().__init__("\n".join(map(printable, text.splitlines())))
        self.verdicts = dict(verdicts)


class FaultCounter:
    """Counts the games of a run in schedule order and decides which bots are disqualified."""

    def __init__(self, schedule: Schedule, disqualified: Mapping[int, Disqualification]) -> None:
        """`disqualified` are the bots that are disqualified from the beginning, by place."""
        self.schedule, self.disqualified = schedule, dict(disqualified)
        self.bots = [place for place, spec in enumerate(schedule.specs) if user_code_reason(spec)]
        self.process_ends = dict.fromkeys(self.bots, 0)  # games that ended the bot's process
        self.process_survivals = dict.fromkeys(self.bots, 0)  # games that did not
        self.timeouts = dict.fromkeys(self.bots, 0)
        self.failures = dict.fromkeys(self.bots, 0)  # before the bot's first finished game
        self.faults = dict[int, str]()  # the last fault of each bot
        self.finished: set[int] = set()  # bots that have finished a game

    def count(
        self, places: Iterable[int], guilty: int | None, how: Termination, trace: str = ""
    ) -> bool:
        """Count a game of these agents; return whether it disqualifies the guilty one."""
        for place in places:
            if place in self.failures and how.is_fair:
                self.finished.add(place)
                self.process_survivals[place] += 1
        if guilty is None or guilty not in self.failures:
            return False
        ends_process = how in PROCESS_ENDING
        (self.process_ends if ends_process else self.process_survivals)[guilty] += 1
        self.timeouts[guilty] += how is Termination.TIMEOUT
        self.failures[guilty] += guilty not in self.finished
        self.faults[guilty] = fault_text(how.name.lower(), trace)
        if reason := self._reason(guilty, how):
            self.disqualified[guilty] = Disqualification(how, reason)
        return bool(reason)

    @property
    def useless(self) -> list[int]:
        """The bots that have failed games and have finished none."""
        failed = {*self.disqualified, *(place for place in self.bots if self.failures[place])}
        return sorted(failed - self.finished)

    def _reason(self, place: int, how: Termination) -> str:
        """Return why a bot is disqualified; "" if it is not."""
        if place not in self.finished and self.failures[place] >= FIRST_GAMES:
            return (
                f"is excluded: it failed its first {FIRST_GAMES} games and finished none; "
                f"last fault: {self.faults[place]}"
            )
        # Relative to finished games: a bot with rare faults also fails ten times in a row by
        # chance, and should still play most of its games.
        ends, survivals = self.process_ends[place], self.process_survivals[place]
        if how in PROCESS_ENDING and ends >= MAX_RESTARTS * (1 + survivals):
            last = how.name.lower()
            return f"{NOT_AGAIN}: it failed in {ends} of {ends + survivals} games (last: {last})"
        most = max_timeouts(self.schedule.plan, self.schedule.specs[place])
        if self.timeouts[place] >= most:
            return f"{NOT_AGAIN}: {most} games in all were lost by timeout"
        return ""


class ForfeitRule:
    """Replaces games of disqualified bots by forfeits, and reports faults."""

    def __init__(
        self,
        schedule: Schedule,
        unloadable: Mapping[int, str],
        notify: Callable[[str], object] | None = None,
        columns: Columns | None = None,
    ) -> None:
        """`unloadable` are the reasons of agents that do not load, by place.

        Without `notify` nothing is reported. `columns` are those of a schedule that grows.
        """
        self.schedule, self.notify = schedule, notify
        self.columns = columns or schedule.pairs.columns
        first = {
            place: Disqualification(Termination.UNLOADABLE, reason)
            for place, reason in unloadable.items()
        }
        self.counts = FaultCounter(schedule, first)
        self.first_unplayed = dict.fromkeys(first, 0)  # games, by disqualified agent
        self.unplayed = Counter[int]()  # games, by the agent that forfeits them
        self.logged: set[tuple[int, str]] = set()  # faults whose traces are in the log
        self.shown: set[int] = set()  # agents whose first fault was reported
        self.first_faults: dict[int, EarlyFault] = {}  # in schedule order
        for place in first:
            self._announce(place)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with the games of disqualified bots forfeited unplayed."""
        if not self.counts.bots:
            return batch
        games = decode_games([batch.blob], self.columns(batch.start, batch.stop))
        ruled = self.count_games(games, 2 * batch.start)
        if ruled is games:
            return batch
        return batch._replace(blob=encode_games(ruled), points=pair_points(ruled))

    def count_games(self, games: Games, start: int = 0, logged: bool = False) -> Games:
        """Count the faults of games; return them with those of disqualified bots forfeited.

        `start` is the number of the first game in the run; `logged`: they are in the log already.
        """
        bots, forfeits = self.counts.bots, dict[int, tuple[int, Disqualification]]()
        involved = np.isin(games.first, bots) | np.isin(games.second, bots)
        for row in np.flatnonzero(involved).tolist():
            places = int(games.first[row]), int(games.second[row])
            disqualified = self.counts.disqualified
            out = next((seat for seat in (0, 1) if places[seat] in disqualified), None)
            if out is not None:
                forfeits[row] = out, disqualified[places[out]]
                self.unplayed[places[out]] += 1
                continue
            how = Termination(int(games.termination[row]))
            guilty = None if how.is_fair else places[0 if games.result[row] == LOSS else 1]
            trace = games.traces.get(row, "")
            assert trace != DISQUALIFIED.reason, "a worker left out a game that is to be played"
            if guilty is not None:
                fault = EarlyFault(guilty, start + row, fault_text(how.name.lower(), trace))
                self.first_faults.setdefault(guilty, fault)
                self.show_first(fault)
                if not logged:
                    self._log(fault, trace)
            if self.counts.count(places, guilty, how, trace) and guilty is not None:
                self.first_unplayed[guilty] = start + row + 1
                self._announce(guilty)
        return forfeit_games(self.schedule, games, forfeits) if forfeits else games

    def show_first(self, fault: EarlyFault) -> None:
        """Report the first fault of each agent as soon as it is known."""
        if self.notify is not None and fault.place not in self.shown:
            self.shown.add(fault.place)
            name = self.schedule.plan.names[fault.place]
            self.notify(f"{name}: {fault.text} (game {fault.game})")

    def raise_if_useless(self, over: bool = False) -> None:
        """Raise UselessBots if required agents fail all their games.

        If no game is left (`over`), report the other ones that do.
        """
        names, disqualified = self.schedule.plan.names, self.counts.disqualified
        useless = [place for place in self.counts.useless if over or place in disqualified]
        if required := [place for place in useless if self._is_required(place)]:
            raise UselessBots({names[place]: self._verdict(place) for place in required})
        for place in useless:
            if over and self.notify is not None and place not in disqualified:
                self.notify(f"{names[place]} {self._verdict(place)}")

    def _is_required(self, place: int) -> bool:
        return self.schedule.plan.names[place] in self.schedule.plan.required_agents

    def _verdict(self, place: int) -> str:
        """Return why a bot finished no game."""
        if place not in self.first_faults:
            return self.counts.disqualified[place].reason
        fault, games = self.first_faults[place], self.counts.failures[place]
        return f"failed all its {games} games; in game {fault.game} it {fault.text}"

    def _log(self, fault: EarlyFault, trace: str) -> None:
        """Write a fault into the log, with its trace if it is new."""
        if self.notify is None:
            return
        more = "" if (fault.place, fault.text) in self.logged else f"\n{trace}"
        self.logged.add((fault.place, fault.text))
        name = self.schedule.plan.names[fault.place]
        log.warning("%s forfeits game %d: %s%s", name, fault.game, fault.text, more)

    def reason(self, place: int) -> str:
        """Return why an agent is disqualified, in one line."""
        disqualification = self.counts.disqualified[place]
        return fault_text(disqualification.termination.name.lower(), disqualification.reason)

    def _announce(self, place: int) -> None:
        """Report that an agent forfeits the rest of its games unplayed, and why."""
        if self.notify is None:
            return
        name, text = self.schedule.plan.names[place], self.reason(place)
        full = self.counts.disqualified[place].reason
        log.warning("%s %s", name, text if place in self.first_faults else full)
        if not (self._is_required(place) and place in self.counts.useless):
            self.notify(f"{name} {text}; its other games are forfeited unplayed")


def forfeit_games(
    schedule: Schedule, games: Games, forfeits: Mapping[int, tuple[int, Disqualification]]
) -> Games:
    """Return the games with some rows forfeited unplayed, by seat and reason."""
    rows = list(forfeits)
    records = [forfeit_record(schedule.game, *forfeits[row]) for row in rows]
    instead = games_from_records(schedule.game, records, False)
    columns = dict(games.columns)
    for name in RESULT_COLUMNS.keys() & columns.keys():
        columns[name] = columns[name].copy()
        columns[name][rows] = instead.columns[name]
    traces = games.traces | {row: forfeits[row][1].reason for row in rows}
    info = {row: text for row, text in games.search_info.items() if row not in forfeits}
    moves = games.moves
    if moves is not None:
        keep = np.ones(len(games), np.bool_)
        keep[rows] = False
        moves = moves[np.repeat(keep, games.plies)]
    return replace(games, columns=columns, moves=moves, traces=traces, search_info=info)
