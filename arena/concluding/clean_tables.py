"""The games of a table replayed by clean rules, before any bot is started."""

from typing import NamedTuple

import numpy as np

from arena.keeping.game_table import COMPARED, StoredGames
from arena.planning.drawing import DrawnPlan
from arena.planning.game_pieces import cut
from arena.planning.openings import NO_MOVE
from arena.planning.records import LOSS, Games, Termination
from arena.playing.clean_replay import contradiction, unclean
from arena.playing.fault_rule import FaultRule
from games.board import Board
from games.names import quoted
from games.transcripts import words_by_side


class Table(NamedTuple):
    """What a table holds, as far as the rules and the plan can tell."""

    fault: str | None  # where it cannot be true
    unasked: "np.ndarray[tuple[int], np.dtype[np.bool_]]"  # games that were forfeited unplayed
    replayed: int  # games whose moves were kept


def checked(stored: StoredGames, drawn: DrawnPlan, unloadable: dict[int, str]) -> Table:
    """Compare a table with the schedule, the rule of faults and, where moves were kept, the rules.

    `unloadable` says of places why their agents did not load.
    """
    size = len(stored.games) // 2
    placed = drawn.pairings.columns(0, size) if size <= drawn.pairings.total else None
    none = np.zeros(len(stored.games), np.bool_)
    if placed is None:
        return Table(f"{2 * size} games are there, {2 * drawn.pairings.total} scheduled", none, 0)
    whole = Games(stored.games.columns | {n: placed[n] for n in ("first", "second")}, None, {})
    unasked, fault = forfeited(whole, drawn, unloadable)
    for name in ("pair", "seed"):
        different = np.flatnonzero(stored.games.columns[name] != placed[name])
        if fault is None and len(different):
            row = int(different[0])
            was, now = stored.games.columns[name][row], placed[name][row]
            fault = f"{place_of(row)}: {contradiction(name, was, now)}"
    if fault is None and stored.moves is not None:
        replay = Replay(drawn, whole)
        faults = (replay.fault(start, texts) for start, texts in stored.moves.pieces())
        fault = next(filter(None, faults), None)
    return Table(fault, unasked, 0 if stored.moves is None else len(stored.moves))


def place_of(row: int) -> str:
    """Where a game stands in the schedule."""
    return f"pairing {row // 2}, game {row % 2 + 1}"


def forfeited(
    whole: Games, drawn: DrawnPlan, unloadable: dict[int, str]
) -> tuple["np.ndarray[tuple[int], np.dtype[np.bool_]]", str | None]:
    """Which games the rule of faults has forfeited unplayed, and whether one ends otherwise."""
    rule = FaultRule(drawn, unloadable)
    ruled = rule.take(whole)
    unasked = np.zeros(len(whole), np.bool_)
    unasked[list(ruled.traces)] = True
    for name in COMPARED:
        if name in whole.columns and name not in ("pair", "seed"):
            different = np.flatnonzero(ruled.columns[name] != whole.columns[name])
            if len(different):
                row = int(different[0])
                was, now = whole.columns[name][row], ruled.columns[name][row]
                return (
                    unasked,
                    f"{place_of(row)}: {contradiction(name, was, now)} (rule of forfeits)",
                )
    return unasked, None


class Replay:
    """Games in the words of players, played again."""

    def __init__(self, drawn: DrawnPlan, games: Games) -> None:
        """The columns of the games; their moves come as words."""
        self.drawn, self.games = drawn, games
        self.board = Board(drawn.of)
        self.slots = [
            {word: drawn.of.slots_of(move) for move, word in enumerate(words)}
            for words in words_by_side(drawn.of)
        ]

    def fault(self, start: int, texts: list[str]) -> str | None:
        """The first game that the rules do not allow as it stands there, and why.

        The texts are those of the games from row `start` on.
        """
        of, moves = self.drawn.of, list[int]()
        games = cut(self.games, start, start + len(texts))
        for row, text in enumerate(texts, start):
            words = text.split()
            if len(words) != self.games.plies[row]:
                return (
                    f"{place_of(row)}: {contradiction('plies', self.games.plies[row], len(words))}"
                )
            slots = self._slots(words)
            if isinstance(slots, str):
                return f"{place_of(row)}: {slots}"
            if problem := self._begins_wrongly(row, slots) or self._loser_was_waiting(row):
                return f"{place_of(row)}: {problem}"
            moves += slots
        found = unclean(
            of, np.array(of.moves_of(np.array(moves, np.int16)), np.int16), games.plies,
            games.result, games.margin, games.termination, games.game_id,
        )  # fmt: skip
        return None if found is None else f"{place_of(start + found[0])}: {found[1]}"

    def _slots(self, words: list[str]) -> list[int] | str:
        """The slots of a game, which then stands on the board; or why there is no such game."""
        self.board.begin()
        slots = []
        for ply, word in enumerate(words, 1):
            slot = self.slots[self.board.side].get(word)
            if slot is None or slot not in self.board.slots:
                return f"move {quoted(word)} at ply {ply} is not legal"
            self.board.play(slot)
            slots.append(slot)
        return slots

    def _begins_wrongly(self, row: int, slots: list[int]) -> str | None:
        """A game that was begun has the moves of its opening."""
        openings = self.drawn.openings.slots
        opening = openings[(self.drawn.pairings.places(np.array([row // 2]))[1]) % len(openings)][0]
        drawn = opening[opening != NO_MOVE].tolist()
        return (
            "it does not begin with its opening" if slots and slots[: len(drawn)] != drawn else None
        )

    def _loser_was_waiting(self, row: int) -> str | None:
        """Who answers an illegal move is to move."""
        if self.games.termination[row] != Termination.ILLEGAL or self.games.plies[row] == 0:
            return None
        loser = 0 if self.games.result[row] == LOSS else 1
        wrong = self.board.mover != loser
        return (
            "the table says termination illegal, but its loser was not to move" if wrong else None
        )


def unloadable_places(stored: dict[str, str], names: tuple[str, ...]) -> dict[int, str]:
    """What run.json says of agents that did not load, by their places."""
    return {names.index(name): why for name, why in stored.items() if name in names}
