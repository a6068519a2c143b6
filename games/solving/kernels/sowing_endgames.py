"""The endgame database of packed sowing games: values of all positions of few beans."""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.jit import specialise
from games.kernels.masks import except_highest, none
from games.solving.kernels.sowing_rank import rank_of
from games.sowing.states.packed import (
    BYTE,
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

Values = NDArray[np.int8]
BoardRows = NDArray[np.uint64]

UNKNOWN = -128
ZERO, ONE = U(0), U(1)


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
