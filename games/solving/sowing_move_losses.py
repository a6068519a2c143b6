"""Move losses of packed sowing games in one compiled pass."""

from types import ModuleType, SimpleNamespace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.core import Game, Position
from games.kernels.bits import Truth, U
from games.kernels.context import Context
from games.kernels.jit import family_kernels, inline_copies, specialise
from games.solving import sowing_search
from games.solving.move_losses import NO_MOVE, PLY, UNKNOWN, JudgeLimits, JudgeProgress, Plies
from games.solving.solver import Solver
from games.solving.sowing import SowingSearch
from games.solving.sowing_database import BEANS, MOST_NODES, NODES, PACKED, STOPPED, Values
from games.solving.sowing_search import Table, at_least, rank
from games.sowing.packed import BYTE, HOLES, POT, POT_SHIFT, THREE, State, beans, count, moves, play
from games.transcripts import move_texts_by_side

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Slots = NDArray[np.int16]
# Words of `limits`: most beans in play to judge, nodes per question, nodes spent so far; then
# the slots of South and of North in board order.
LAST, NODES_A_QUESTION, SPENT, BOARD_ORDER = range(4)
MOST_HOLES = POT
LIMIT_WORDS = BOARD_ORDER + 2 * MOST_HOLES
# Columns of a ply: beans in play, moves to choose from, bounds of the value, the best slot.
LEFT, CHOICES, LOW, HIGH, BEST, SIDE, COLUMNS = range(7)
ALL = 1 << 20  # more beans than any game has
# The first arguments of the kernels: context, table, values, limits.
SharedArguments: TypeAlias = tuple[Context, Table, Values, NDArray[np.int64]]


def replay_states(
    ctx: Context, places: Slots, slots: Slots, own: Words, other: Words, plies: Numbers
) -> int:
    """Fill in the states and everything that needs no search; return the number of legal plies.

    `slots` has the slot of each word, for South and then for North.
    """
    words = slots.size // 2
    for ply in range(places.size):  # the last slot is -1, for unknown words
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


def pot_difference(own: np.uint64, other: np.uint64) -> np.int64:
    """Return the mover's pot minus the opponent's."""
    return np.int64(own >> POT_SHIFT) - np.int64(other >> POT_SHIFT)


def ask_bound(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    bound: np.int64,
) -> np.int64:
    """Return a bound of the final margin that decides whether it is at least `bound`."""
    banked = pot_difference(own, other)
    row, facing = own & HOLES, other & HOLES
    if row == U(0):
        return banked
    if beans(row) + beans(facing) <= U(ctx[BEANS]):
        return banked + np.int64(values[rank(ctx, row, facing)])
    ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, limits[NODES_A_QUESTION], 0
    value = at_least(ctx, table, values, row, facing, bound - banked, np.int64(0))
    limits[SPENT] += ctx[NODES]
    return banked + value


def narrow_bounds(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: np.uint64,
    other: np.uint64,
    low: np.int64,
    high: np.int64,
) -> tuple[np.int64, np.int64]:
    """Raise `low` until it meets `high` or nodes run out; return both bounds."""
    while low < high:
        value = ask_bound(ctx, table, values, limits, own, other, low + 1)
        if ctx[STOPPED] != 0:
            break
        if value > low:
            low = value
        else:
            high = value
    return low, high


def reaches_margin(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    slot: np.uint64,
    margin: np.int64,
) -> Truth:
    """Return whether the move reaches at least this margin."""
    after, same = play(ctx, s, slot)
    if same:
        return ask_bound(ctx, table, values, limits, after.own, after.other, margin) >= margin
    return ask_bound(ctx, table, values, limits, after.own, after.other, 1 - margin) <= -margin


def lowest_best_slot(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    s: State,
    side: np.int64,
    margin: np.int64,
) -> np.int64:
    """Return the slot of the lowest move that keeps the margin; -1 if nodes run out."""
    for place in range(MOST_HOLES):
        slot = U(limits[BOARD_ORDER + side * MOST_HOLES + place])
        if (s.own >> (slot << THREE)) & BYTE != U(0):
            reaches = reaches_margin(ctx, table, values, limits, s, slot, margin)
            if ctx[STOPPED] != 0:
                return np.int64(-1)
            if reaches:
                return np.int64(slot)
    return np.int64(-1)


def judge_backwards(
    ctx: Context,
    table: Table,
    values: Values,
    limits: Numbers,
    own: Words,
    other: Words,
    plies: Numbers,
    known: np.int64,
) -> int:
    """Value the plies before `known`, whose value is known, and return the first valued ply.

    One question per ply is usually enough: if no move is better than the played one, the value is
    the same as after the move.
    """
    ctx[STOPPED] = 0
    for ply in range(known - 1, -1, -1):
        at = ply * COLUMNS
        if plies[at + LEFT] > limits[LAST]:
            return ply + 1
        same = plies[at + SIDE] == plies[at + COLUMNS + SIDE]
        after = plies[at + COLUMNS + LOW] if same else -plies[at + COLUMNS + LOW]
        most = pot_difference(own[ply], other[ply]) + plies[at + LEFT]
        plies[at + LOW], plies[at + HIGH] = after, most
        value = ask_bound(ctx, table, values, limits, own[ply], other[ply], after + 1)
        if ctx[STOPPED] != 0:
            return ply + 1
        if value <= after:
            plies[at + HIGH] = after
            continue
        low, high = narrow_bounds(ctx, table, values, limits, own[ply], other[ply], value, most)
        plies[at + LOW], plies[at + HIGH] = low, high
        if low < high:
            return ply + 1
        s = State(own[ply], other[ply])
        plies[at + BEST] = lowest_best_slot(ctx, table, values, limits, s, plies[at + SIDE], low)
        if ctx[STOPPED] != 0:
            return ply
    return 0


INLINED = (pot_difference,)
COMPILED = (
    replay_states,
    ask_bound,
    narrow_bounds,
    reaches_margin,
    lowest_best_slot,
    judge_backwards,
)


def bind_judge(family: ModuleType) -> SimpleNamespace:
    """Return the kernels compiled for the packed family, with the search that they call."""
    search = family_kernels(family.__name__, sowing_search.bind_search)
    names = {"at_least": search.at_least, "rank": search.rank}
    return specialise(family.FAMILY, COMPILED, **inline_copies(INLINED, {}), **names)


class GameStates(NamedTuple):
    """The states of a game, including the last, with the results for each."""

    own: NDArray[np.uint64]
    other: NDArray[np.uint64]
    plies: NDArray[np.int64]


class SowingJudge:
    """Judges games with the table and the database of a search."""

    def __init__(self, solver: Solver) -> None:
        """Use a solver whose search ignores the pots."""
        search = solver.search
        assert isinstance(search, SowingSearch)
        self.game, self.search = solver.game, search
        self.kernels = family_kernels(PACKED, bind_judge)
        self.places, self.slots = slots_by_text(self.game)
        self.move_of = np.full(MOST_HOLES + 1, NO_MOVE, np.int16)
        self.move_of[list(self.game.slots)] = range(len(self.game.slots))

    def judge_game(self, text: str, limits: JudgeLimits, reached: JudgeProgress | None) -> Plies:
        """Judge a game in one call; an unreadable game raises a MoveError."""
        game, legal = self._replay(self.game.notation.split(text))
        if legal < len(game.plies) - 1:  # another notation, or illegal: `_rewrite` raises the error
            game, _ = self._replay(self._rewrite(text))
        packed = pack_limits(self.game, limits)
        shared = self.search.context, self.search.table, self.search.load_values(), packed
        known = len(game.plies) - 1
        if reached is not None:
            known = reached.ply
            game.plies[known, LOW] = reached.value
        elif not self._value_end(shared, game):
            return empty_plies(game.plies)
        plies = game.plies.ravel()
        first = self.kernels.judge_backwards(*shared, game.own, game.other, plies, known)
        self.search.nodes += int(packed[SPENT])
        return to_plies(game.plies, int(first), known, self.move_of)

    def _replay(self, words: list[str]) -> tuple[GameStates, int]:
        """Return the states of the game, and the number of its legal plies."""
        game, count = self.game, len(words)
        places = np.array([self.places.get(word, len(self.places)) for word in words], np.int16)
        own, other = np.zeros((2, count + 1), np.uint64)
        own[0], other[0] = game.start().state
        plies = np.full((count + 1, COLUMNS), UNKNOWN, np.int64)
        plies[0, SIDE] = 0
        legal = self.kernels.replay_states(
            self.search.context, places, self.slots, own, other, plies.ravel()
        )
        return GameStates(own, other, plies), int(legal)

    def _rewrite(self, text: str) -> list[str]:
        game = self.game
        words = zip(game.replay(text), game.notation.split(text), strict=False)
        return [game.move_text(at, game.parse_move(at, word)) for at, word in words]

    def _value_end(self, shared: SharedArguments, game: GameStates) -> bool:
        """Value the last position, which is not final after a forfeit; return whether it worked."""
        own, other = game.own[-1], game.other[-1]
        rows = self.game.plain(Position(self.game.family.from_words((own, other)), 0))
        left, banked = sum(rows.own) + sum(rows.other), rows.own_pot - rows.other_pot
        if not any(rows.own):
            left = 0
        if left > shared[-1][LAST]:
            return False
        low, high = self.kernels.narrow_bounds(*shared, own, other, banked - left, banked + left)
        game.plies[-1, LOW] = low
        return bool(low == high)


def slots_by_text(game: Game) -> tuple[dict[str, int], NDArray[np.int16]]:
    """Return the index of every move text, and its slot for South and North; -1 for none."""
    by_side = move_texts_by_side(game)
    places = {word: place for place, word in enumerate(sorted({*by_side[0], *by_side[1]}))}
    slots = np.full((2, len(places) + 1), NO_MOVE, np.int16)  # the last place is for unknown words
    for side, words in enumerate(by_side):
        for move, word in enumerate(words):
            slots[side, places[word]] = game.slots[move]
    return places, slots.ravel()


def pack_limits(game: Game, limits: JudgeLimits) -> NDArray[np.int64]:
    """Return the limits in the kernels' layout, with the slots in board order."""
    words = np.zeros(LIMIT_WORDS, np.int64)
    words[LAST] = ALL if limits.last is None else limits.last
    words[NODES_A_QUESTION] = limits.nodes
    for side in (0, 1):
        start = Position(game.start().state, side)
        order = sorted(range(len(game.slots)), key=lambda move: int(game.move_text(start, move)))
        slots = [game.slots[move] for move in order]
        # Fill the rest with the last slot, which is then tried again.
        slots += slots[-1:] * (MOST_HOLES - len(slots))
        words[BOARD_ORDER + side * MOST_HOLES :][:MOST_HOLES] = slots
    return words


def empty_plies(plies: NDArray[np.int64]) -> Plies:
    """Return the plies of a game whose end cannot be valued."""
    return to_plies(plies, len(plies) - 1, len(plies) - 1, np.empty(0, np.int16))


def to_plies(plies: NDArray[np.int64], first: int, known: int, move_of: NDArray[np.int16]) -> Plies:
    """Return the plies in the layout PLY; those from `first` to `known` - 1 are judged."""
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
