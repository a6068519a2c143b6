"""The place of a sowing position, without its pots, among all that have as many beans or fewer."""

from math import comb

import numpy as np

from games.kernels.bits import U
from games.kernels.context import COUNTERS, Context
from games.kernels.jit import inlined
from games.sowing.states.packed import BYTE, EACH_BYTE, POT, POT_SHIFT

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
