"""The same in one compiled pass for packed sowing games."""

from types import ModuleType, SimpleNamespace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.core import Game, Position
from games.kernels.bits import Truth, U
from games.kernels.context import Context
from games.kernels.jit import bound, inline_copies, specialise
from games.solving import sowing_search
from games.solving.move_losses import NO_MOVE, PLY, UNKNOWN, JudgeLimits, Plies, Reached
from games.solving.solver import Solver
from games.solving.sowing import SowingQuestions
from games.solving.sowing_database import PACKED
from games.solving.sowing_endgames import BEANS, MOST_NODES, NODES, STOPPED, Values
from games.solving.sowing_search import Table, at_least, rank
from games.sowing.packed import BYTE, HOLES, POT, POT_SHIFT, THREE, State, beans, count, moves, play
from games.transcripts import move_texts_by_side

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Slots = NDArray[np.int16]
# Words of `limits`: beans in play up to which is judged, nodes that a question may take, nodes
# spent so far; then the slots of South and of North in the order of the board.
LAST, NODES_A_QUESTION, SPENT, BOARD_ORDER = range(4)
MOST_HOLES = POT
LIMIT_WORDS = BOARD_ORDER + 2 * MOST_HOLES
# Columns of a ply: beans in play, moves to choose from, bounds of the value, the best slot.
LEFT, CHOICES, LOW, HIGH, BEST, SIDE, COLUMNS = range(7)
ALL = 1 << 20  # beans: more than any game has
Walk: TypeAlias = tuple[Context, Table, Values, NDArray[np.int64]]


def replayed(
    ctx: Context, places: Slots, slots: Slots, own: Words, other: Words, plies: Numbers
) -> int:
    """Fill in the states and what is known of every ply without a search.

    `slots` are those of each word, for South and then for North. Returns how many plies are
    legal, the rest is not filled in.
    """
    words = slots.size // 2
    for ply in range(places.size):  # of words that nobody knows, the last slot is -1
        at = ply * COLUMNS
        s = State(own[ply], other[ply])
        side = plies[at + SIDE]
        slot = np.int64(slots[side * words + places[ply]])
        if slot < 0 or (s.own >> (U(slot) << THREE)) & BYTE == U(0):
            return ply
        plies[at + LEFT] = beans(s.own & HOLES) + beans(s.other & HOLES)
        plies[at + CHOICES] = count(moves(ctx, s))
        plies[at + BEST] = slot
        after, same = play(ctx, s, U(slot))
        own[ply + 1], other[ply + 1] = after.own, after.other
        plies[at + COLUMNS + SIDE] = side if same else 1 - side
    return places.size


def banked(own: np.uint64, other: np.uint64) -> np.int64:
    """What the mover's pot holds more than the other."""
    return np.int64(own >> POT_SHIFT) - np.int64(other >> POT_SHIFT)


def asked(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    bound: np.int64,
) -> np.int64:
    """A bound of the final margin, on that side of `bound` on which the margin is."""
    more = banked(own, other)
    row, facing = own & HOLES, other & HOLES
    if row == U(0):
        return more
    if beans(row) + beans(facing) <= U(ctx[BEANS]):
        return more + np.int64(values[rank(ctx, row, facing)])
    ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, limits[NODES_A_QUESTION], 0
    value = at_least(ctx, table, values, row, facing, bound - more, np.int64(0))
    limits[SPENT] += ctx[NODES]
    return more + value


def narrowed(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    low: np.int64,
    high: np.int64,
) -> tuple[np.int64, np.int64]:
    """The bounds of the margin, asked upwards from `low` until they meet or nodes run out."""
    while low < high:
        value = asked(ctx, table, values, limits, own, other, low + 1)
        if ctx[STOPPED] != 0:
            break
        if value > low:
            low = value
        else:
            high = value
    return low, high


def is_worth(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    slot: np.uint64,
    margin: np.int64,
) -> Truth:
    """Whether the move leads to at least this margin."""
    after, same = play(ctx, s, slot)
    if same:
        return asked(ctx, table, values, limits, after.own, after.other, margin) >= margin
    return asked(ctx, table, values, limits, after.own, after.other, 1 - margin) <= -margin


def lowest_best(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    side: np.int64,
    margin: np.int64,
) -> np.int64:
    """The slot of the lowest move on the board that keeps the margin; -1 if nodes run out."""
    for place in range(MOST_HOLES):
        slot = U(limits[BOARD_ORDER + side * MOST_HOLES + place])
        if (s.own >> (slot << THREE)) & BYTE != U(0):
            worth = is_worth(ctx, table, values, limits, s, slot, margin)
            if ctx[STOPPED] != 0:
                return np.int64(-1)
            if worth:
                return np.int64(slot)
    return np.int64(-1)


def walked_back(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: Words,
    other: Words,
    plies: Numbers,
    known: np.int64,
) -> int:
    """Value the positions before `known`, whose value is known, one question a ply.

    Is there anything better than what was played? If not, the move was perfect and the value
    is that after it. Returns the first ply whose value is known.
    """
    ctx[STOPPED] = 0
    for ply in range(known - 1, -1, -1):
        at = ply * COLUMNS
        if plies[at + LEFT] > limits[LAST]:
            return ply + 1
        same = plies[at + SIDE] == plies[at + COLUMNS + SIDE]
        after = plies[at + COLUMNS + LOW] if same else -plies[at + COLUMNS + LOW]
        most = banked(own[ply], other[ply]) + plies[at + LEFT]
        plies[at + LOW], plies[at + HIGH] = after, most
        value = asked(ctx, table, values, limits, own[ply], other[ply], after + 1)
        if ctx[STOPPED] != 0:
            return ply + 1
        if value <= after:
            plies[at + HIGH] = after
            continue
        low, high = narrowed(ctx, table, values, limits, own[ply], other[ply], value, most)
        plies[at + LOW], plies[at + HIGH] = low, high
        if low < high:
            return ply + 1
        s = State(own[ply], other[ply])
        plies[at + BEST] = lowest_best(ctx, table, values, limits, s, plies[at + SIDE], low)
        if ctx[STOPPED] != 0:
            return ply
    return 0


INLINED = (banked,)
COMPILED = (replayed, asked, narrowed, is_worth, lowest_best, walked_back)


def of_packed(family: ModuleType) -> SimpleNamespace:
    """The walk, compiled for the packed family, with the search that it asks."""
    search = bound(family.__name__, sowing_search.of_packed)
    names = {"at_least": search.at_least, "rank": search.rank}
    return specialise(family.FAMILY, COMPILED, **inline_copies(INLINED, {}), **names)


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
        self.kernels = bound(PACKED, of_packed)
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
    by_side = move_texts_by_side(of)
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
