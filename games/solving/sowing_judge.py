"""Judging sowing games of up to seven holes in one compiled walk a game."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.core import Game
from games.kernels.context import Context
from games.kernels.jit import bound
from games.position import Position
from games.solving.database_files import Values
from games.solving.judged_plies import NO_MOVE, PLY, UNKNOWN, JudgeLimits, Plies, Reached
from games.solving.kernels import sowing_lines
from games.solving.kernels.sowing_lines import (
    BEST,
    BOARD_ORDER,
    CHOICES,
    COLUMNS,
    HIGH,
    LAST,
    LEFT,
    LIMIT_WORDS,
    LOW,
    MOST_HOLES,
    NODES_A_QUESTION,
    SIDE,
    SPENT,
)
from games.solving.kernels.sowing_search import Table
from games.solving.solver import Solver
from games.solving.sowing import SowingQuestions
from games.solving.sowing_database import PACKED
from games.transcripts import words_by_side

ALL = 1 << 20  # beans: more than any game has

Walk: TypeAlias = tuple[Context, Table, Values, NDArray[np.int64]]


class Walked(NamedTuple):
    """The states of a game, including the last, with what is known about each."""

    own: NDArray[np.uint64]
    other: NDArray[np.uint64]
    plies: NDArray[np.int64]


class SowingJudge:
    """Walks games back with the table and the database of the questions."""

    def __init__(self, solver: Solver) -> None:
        """The solver's questions are about rows without pots."""
        questions = solver.questions
        assert isinstance(questions, SowingQuestions)
        self.game, self.questions = solver.game, questions
        self.kernels = bound(PACKED, sowing_lines.of_packed)
        self.places, self.slots = readable(self.game)
        self.move_of = np.full(MOST_HOLES + 1, NO_MOVE, np.int16)
        self.move_of[list(self.game.slots)] = range(len(self.game.slots))

    def judged(self, text: str, limits: JudgeLimits, reached: Reached | None) -> Plies:
        """One call a game; a game that cannot be read is a MoveError."""
        game, legal = self._replayed(self.game.notation.split(text))
        if legal < len(game.plies) - 1:  # not as we write it, or wrong: then this says where
            game, _ = self._replayed(self._rewritten(text))
        asked = limit_words(self.game, limits)
        walk = self.questions.context, self.questions.table, self.questions.prepared(), asked
        known = len(game.plies) - 1
        if reached is not None:
            known = reached.ply
            game.plies[known, LOW] = reached.value
        elif not self._end_is_known(walk, game):
            return unjudged(game.plies)
        first = self.kernels.walked_back(*walk, game.own, game.other, game.plies.ravel(), known)
        self.questions.nodes += int(asked[SPENT])
        return judged_plies(game.plies, int(first), known, self.move_of)

    def _replayed(self, words: list[str]) -> tuple[Walked, int]:
        """The states of the game, with the number of its legal plies."""
        of, count = self.game, len(words)
        places = np.array([self.places.get(word, len(self.places)) for word in words], np.int16)
        own, other = np.zeros((2, count + 1), np.uint64)
        own[0], other[0] = of.start().state
        plies = np.full((count + 1, COLUMNS), UNKNOWN, np.int64)
        plies[0, SIDE] = 0
        legal = self.kernels.replayed(
            self.questions.context, places, self.slots, own, other, plies.ravel()
        )
        return Walked(own, other, plies), int(legal)

    def _rewritten(self, text: str) -> list[str]:
        of = self.game
        words = zip(of.replay(text), of.notation.split(text), strict=False)
        return [of.move_text(at, of.parse_move(at, word)) for at, word in words]

    def _end_is_known(self, walk: Walk, game: Walked) -> bool:
        """Value the last position, at which a forfeited game is not over."""
        own, other = game.own[-1], game.other[-1]
        rows = self.game.plain(Position(self.game.family.restored((own, other)), 0))
        left, banked = sum(rows.own) + sum(rows.other), rows.own_pot - rows.other_pot
        if not any(rows.own):
            left = 0
        if left > walk[-1][LAST]:
            return False
        low, high = self.kernels.narrowed(*walk, own, other, banked - left, banked + left)
        game.plies[-1, LOW] = low
        return bool(low == high)


def readable(of: Game) -> tuple[dict[str, int], NDArray[np.int16]]:
    """Every word by its place, and its slot for South and for North; -1 if it has none there."""
    by_side = words_by_side(of)
    places = {word: place for place, word in enumerate(sorted({*by_side[0], *by_side[1]}))}
    slots = np.full((2, len(places) + 1), NO_MOVE, np.int16)  # the last place is no word of ours
    for side, words in enumerate(by_side):
        for move, word in enumerate(words):
            slots[side, places[word]] = of.slots[move]
    return places, slots.ravel()


def limit_words(of: Game, limits: JudgeLimits) -> NDArray[np.int64]:
    """The limits as the kernels read them, with the slots in the order of the board."""
    words = np.zeros(LIMIT_WORDS, np.int64)
    words[LAST] = ALL if limits.last is None else limits.last
    words[NODES_A_QUESTION] = limits.nodes
    for side in (0, 1):
        start = Position(of.start().state, side)
        order = sorted(range(len(of.slots)), key=lambda move: int(of.move_text(start, move)))
        slots = [of.slots[move] for move in order]
        # Fewer holes than there is room for: the rest repeats the last, which is then tried again.
        slots += slots[-1:] * (MOST_HOLES - len(slots))
        words[BOARD_ORDER + side * MOST_HOLES :][:MOST_HOLES] = slots
    return words


def unjudged(plies: NDArray[np.int64]) -> Plies:
    """The plies of a game whose end cannot be valued."""
    return judged_plies(plies, len(plies) - 1, len(plies) - 1, np.empty(0, np.int16))


def judged_plies(
    plies: NDArray[np.int64], first: int, known: int, move_of: NDArray[np.int16]
) -> Plies:
    """The plies as everybody reads them; `first` to `known` - 1 were judged."""
    made = np.zeros(len(plies) - 1, PLY)
    made["player"] = made["side"] = plies[:-1, SIDE]
    for name, column in (("left", LEFT), ("choices", CHOICES)):
        made[name] = plies[:-1, column]
    for name in ("low", "high", "after"):
        made[name] = UNKNOWN
    made["best"] = NO_MOVE
    tried = slice(max(first - 1, 0), known)
    same = plies[:-1, SIDE] == plies[1:, SIDE]
    made["low"][tried], made["high"][tried] = plies[tried, LOW], plies[tried, HIGH]
    made["best"][first:known] = move_of[plies[first:known, BEST]]
    after = np.where(same, plies[1:, LOW], -plies[1:, LOW])
    made["after"][tried] = after[tried]
    return made
