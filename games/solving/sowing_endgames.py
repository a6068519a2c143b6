"""The endgame database of packed sowing games: values of all positions of few beans."""

from math import comb
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import U
from games.kernels.context import COUNTERS, Context
from games.kernels.jit import inlined, specialise
from games.kernels.masks import except_highest, none
from games.sowing.packed import (
    BYTE,
    EACH_BYTE,
    EIGHT,
    HOLES,
    POT,
    POT_SHIFT,
    State,
    beans,
    ended,
    highest,
    moves,
    sown,
    swept,
)

# Words of the context that the search and the endgames of packed sowing games share.
(
    NODES,  # positions looked at
    MOST_NODES,  # how many may be
    STOPPED,  # 1: that was not enough
    BEANS,  # the database knows all positions of so many beans
    RANKS_AT,  # where the counts of `ranks` stand
    CHILDREN_AT,  # where the lists of moves stand
    PENALTY,  # what each extra turn that is left to the opponent counts in the order of moves
) = range(COUNTERS, COUNTERS + 7)
MOST_BEANS = 63
RANK_WIDTH = MOST_BEANS + 1
LANE_1, LANE_2, LANE_3, LANE_4, LANE_5, LANE_6, LANE_7 = (U(RANK_WIDTH * k) for k in range(1, 8))
Values = NDArray[np.int8]
BoardRows = NDArray[np.uint64]
UNKNOWN = -128
ZERO, ONE = U(0), U(1)


def positions(holes: int, beans: int) -> int:
    """How many there are of up to so many beans, `holes` a side."""
    return comb(beans + 2 * holes, 2 * holes)


def ranks(holes: int) -> list[int]:
    """For each lane of both rows, what the beans up to it add to the rank; 0 below the row."""
    first = POT - holes
    cells = [cell for row in (0, holes) for cell in (*[None] * first, *range(row, row + holes))]
    return [
        0 if cell is None else comb(beans + cell, cell + 1)
        for cell in cells
        for beans in range(RANK_WIDTH)
    ]


@inlined
def row_rank(ctx: Context, at: np.uint64, sums: np.uint64) -> np.int64:
    """The part of one row, whose counts stand at `at`, by its sums lane by lane."""
    rank = ctx[at + (sums & BYTE)] + ctx[at + LANE_1 + ((sums >> U(8)) & BYTE)]
    rank += ctx[at + LANE_2 + ((sums >> U(16)) & BYTE)]
    rank += ctx[at + LANE_3 + ((sums >> U(24)) & BYTE)]
    rank += ctx[at + LANE_4 + ((sums >> U(32)) & BYTE)]
    rank += ctx[at + LANE_5 + ((sums >> U(40)) & BYTE)]
    return rank + ctx[at + LANE_6 + ((sums >> U(48)) & BYTE)]


@inlined
def rank_of(ctx: Context, own: np.uint64, other: np.uint64) -> np.uint64:
    """The rank: positions of fewer beans come first, so a smaller database is a prefix."""
    at = U(ctx[RANKS_AT])
    sums = own * EACH_BYTE
    # The top lane holds the whole row, which the sums of the second row begin with.
    more = (other + (sums >> POT_SHIFT)) * EACH_BYTE
    return U(row_rank(ctx, at, sums) + row_rank(ctx, at + LANE_7, more))


def list_rows(first: int, held: int, rows: BoardRows) -> None:
    """All rows of `held` beans in the holes from slot `first` on."""
    start = U(first) * EIGHT
    row, last = U(held) << start, U(POT - 1) * EIGHT
    for at in range(rows.size):
        rows[at] = row
        shift = start
        while shift < last and (row >> shift) & BYTE == ZERO:
            shift += EIGHT
        taken = (row >> shift) & BYTE
        # The lowest beans but one go back to the first hole; that one goes a hole further.
        row = row - (taken << shift) + ((taken - ONE) << start)
        if shift < last:
            row += ONE << (shift + EIGHT)


def value_of(ctx: Context, values: Values, own: np.uint64, other: np.uint64) -> np.int64:
    """What the mover will still gain more than the other, with best play of both; kept.

    A move that banks nothing leads to a position of as many beans, which may be unknown yet.
    """
    place = rank_of(ctx, own, other)
    known = np.int64(values[place])
    if known != UNKNOWN:
        return known
    best = np.int64(UNKNOWN)
    mask = moves(ctx, State(own, other))
    while not none(mask):
        after, same = sown(ctx, State(own, other), highest(mask))
        mask = except_highest(mask)
        row, facing = after.own & HOLES, after.other & HOLES
        if min(row, facing) == ZERO and ended(ctx, after, same):
            end = swept(ctx, after)
            value = np.int64(end.own >> POT_SHIFT) - np.int64(end.other >> POT_SHIFT)
        else:
            value = np.int64(after.own >> POT_SHIFT) - np.int64(after.other >> POT_SHIFT)
            if same:
                value += value_of(ctx, values, row, facing)
            else:
                value -= value_of(ctx, values, facing, row)
        best = max(best, value)
    values[place] = best
    return best


def fill(
    ctx: Context, values: Values, held: int, own_rows: BoardRows, rows: BoardRows, starts: BoardRows
) -> None:
    """Value every position of `held` beans whose mover has one of `own_rows`.

    `rows` are all rows, those of k beans from `starts[k]` on. Threads may fill one database at
    once: what two of them value twice has one value.
    """
    for own in own_rows:
        left = U(held) - beans(own)
        for at in range(starts[left], starts[left + ONE]):
            value_of(ctx, values, own, rows[at])


COMPILED = (list_rows, value_of, fill)


def of_packed(family: ModuleType) -> SimpleNamespace:
    """The kernels, compiled for the packed family."""
    return specialise(family.FAMILY, COMPILED)
