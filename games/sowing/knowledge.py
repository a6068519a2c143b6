"""What a sowing is worth at first sight, to the greedy agent or for move ordering."""

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context
from games.kernels.family import State, turned
from games.sowing.states.packed_cells import pot_beans, reaching, row_beans

SORTED_FROM = 2
FINISH_FROM = 3
MANY_BEANS = 1 << 17  # more than a game holds
TIES_BY_SIDE = 1  # North's row is drawn against its sowing order


def remaining(ctx: Context, s: State) -> np.int64:
    """Beans in both rows."""
    return np.int64(row_beans(s) + row_beans(turned(s)))


def gain(ctx: Context, s: State, child: State, same: Truth) -> np.int64:
    """Twice the beans that the move banks for the mover, plus one if it moves again."""
    if same:
        return 2 * (np.int64(pot_beans(child)) - np.int64(pot_beans(s))) + 1
    return 2 * (np.int64(pot_beans(turned(child))) - np.int64(pot_beans(s)))


def urgency(ctx: Context, s: State, child: State) -> np.int64:
    """Extra turns first, then the most beans banked."""
    before = pot_beans(s) + pot_beans(turned(s))
    banked = np.int64(pot_beans(child) + pot_beans(turned(child)) - before)
    # If the turn passed, the next mover's pot is the other one, which has not changed.
    again = pot_beans(child) != pot_beans(turned(s))
    return banked + (MANY_BEANS if again else 0)


def promising(ctx: Context, s: State, mask: np.uint64) -> np.uint64:
    """The moves to try first: those whose last bean falls in the mover's pot."""
    return mask & reaching(ctx, s)


def others(mask: np.uint64, first: np.uint64) -> np.uint64:
    """The moves of the mask that are not among the `first`."""
    return mask & ~first
