"""The phases of a sowing game whose first turn has rules of its own."""

import numpy as np

from games.kernels.bits import Truth, U
from games.kernels.context import RULES, Context
from games.kernels.jit import inlined
from games.sowing.rules import FIRST_PLY, FIRST_TURN, LATE_EXTRA, SETTLED, SWAP, SWAP_OPEN


@inlined
def goes_on(ctx: Context, phase: np.uint64, same: Truth) -> Truth:
    """Whether the mover goes on; `same` is what the last bean says."""
    return same and not (phase == U(FIRST_PLY) and ctx[RULES + LATE_EXTRA] != 0)


@inlined
def next_phase(ctx: Context, phase: np.uint64, same: Truth) -> np.uint64:
    """The phase after a sowing: the swap opens when the first turn has passed."""
    if ctx[RULES + SWAP] == 0 or phase == U(SETTLED) or phase == U(SWAP_OPEN):
        return U(SETTLED)
    return U(FIRST_TURN) if same else U(SWAP_OPEN)
