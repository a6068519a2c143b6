"""Reading the cells of a packed sowing state: the features are written with these names."""

import numpy as np

from games.kernels.bits import U
from games.kernels.context import RULES, Context
from games.kernels.family import State
from games.kernels.jit import inlined
from games.sowing.packed import BYTE, HOLES, LOW_BITS, POT_SHIFT, THREE, TOP_BITS, beans
from games.sowing.rules import FACING

# Beans that bring each slot's last bean to the pot.
DISTANCES = U(0x0001_0203_0405_0607)
SIX, SEVEN = U(6), U(7)


@inlined
def pot_beans(s: State) -> np.uint64:
    """Beans in the mover's pot."""
    return s.own >> POT_SHIFT


@inlined
def row_beans(s: State) -> np.uint64:
    """Beans in the mover's row."""
    return beans(s.own & HOLES)


@inlined
def held(s: State, slot: np.uint64) -> np.uint64:
    """Beans in one of the mover's holes."""
    return (s.own >> (slot << THREE)) & BYTE


@inlined
def facing_held(ctx: Context, s: State, slot: np.uint64) -> np.uint64:
    """Beans in the hole opposite the mover's `slot`."""
    return (s.other >> ((U(ctx[RULES + FACING]) - slot) << THREE)) & BYTE


@inlined
def first_slot(ctx: Context) -> np.uint64:
    """The mover's hole farthest from its pot."""
    return U(ctx[RULES + FACING]) - SIX


@inlined
def end_slot(ctx: Context) -> np.uint64:
    """One past the hole next to the pot."""
    return SEVEN


@inlined
def reaching(ctx: Context, s: State) -> np.uint64:
    """The moves from holes with just enough beans to reach the pot, as in the mask of moves."""
    off = (s.own & HOLES) ^ DISTANCES
    return TOP_BITS ^ ((((off & LOW_BITS) + LOW_BITS) | off) & TOP_BITS)
