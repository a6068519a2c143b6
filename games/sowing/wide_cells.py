"""Reading the cells of a long sowing state: the names of `packed_cells` for long rows."""

import numpy as np

from games.kernels.bits import ONE, ZERO, U
from games.kernels.context import RULES, Context
from games.kernels.jit import inlined
from games.sowing import wide
from games.sowing.rules import FACING
from games.sowing.wide import HALF, LongState


@inlined
def pot_beans(s: LongState) -> np.uint64:
    """Beans in the mover's pot."""
    return s.pots & HALF


@inlined
def row_beans(s: LongState) -> np.uint64:
    """Beans in the mover's row."""
    return wide.beans(s.own)


@inlined
def held(s: LongState, slot: np.uint64) -> np.uint64:
    """Beans in one of the mover's holes."""
    return wide.held(s.own, slot)


@inlined
def facing_held(ctx: Context, s: LongState, slot: np.uint64) -> np.uint64:
    """Beans in the hole opposite the mover's `slot`."""
    return wide.held(s.other, U(ctx[RULES + FACING]) - slot)


@inlined
def first_slot(ctx: Context) -> np.uint64:
    """The mover's hole farthest from its pot."""
    return ZERO


@inlined
def end_slot(ctx: Context) -> np.uint64:
    """One past the hole next to the pot."""
    return U(ctx[RULES + FACING]) + ONE


@inlined
def reaching(ctx: Context, s: LongState) -> np.uint64:
    """The moves from holes with just enough beans to reach the pot, as in the mask of moves."""
    end, found, slot = end_slot(ctx), ZERO, ZERO
    while slot < end:
        if wide.held(s.own, slot) == end - slot:
            found |= ONE << (((slot >> U(2)) << U(4)) + (slot & U(3)))
        slot += ONE
    return found
