"""Quick estimates of moves for greedy and for ordering a search."""

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import RULES, Context
from games.kernels.family import State, count, turned
from games.sowing.packed_cells import pot_beans, reaching, row_beans
from games.sowing.rules import EXTRA

SORTED_FROM = 2
FINISH_FROM = 3
MANY_BEANS = 1 << 17  # more than a game holds
TURN_LEFT = 2  # beans: -12 % nodes in kalah(6,4) to depth 12; 1 saves 7 %, 4 saves 13 %
TIES_BY_SIDE = 1  # North's row is drawn against its sowing order


def remaining(ctx: Context, s: State) -> np.int64:
    """Beans in both rows."""
    return np.int64(row_beans(s) + row_beans(turned(s)))


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Twice the beans that the move banks for the mover, plus one if it moves again."""
    if same:
        return 2 * (np.int64(pot_beans(child)) - np.int64(pot_beans(s))) + 1
    return 2 * (np.int64(pot_beans(turned(child))) - np.int64(pot_beans(s)))


def urgency(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Extra turns first, then the most beans banked, few extra turns left to the other side."""
    before = pot_beans(s) + pot_beans(turned(s))
    banked = np.int64(pot_beans(child) + pot_beans(turned(child)) - before)
    if same:
        return banked + MANY_BEANS
    if ctx[RULES + EXTRA] != 0:
        banked -= TURN_LEFT * np.int64(count(reaching(ctx, child)))
    return banked


def promising(ctx: Context, s: State, mask: np.uint64) -> np.uint64:
    """The moves to try first: those whose last bean falls in the mover's pot."""
    return mask & reaching(ctx, s)


def others(mask: np.uint64, first: np.uint64) -> np.uint64:
    """The moves of the mask that are not among the `first`."""
    return mask & ~first
