"""How many beans a sowing takes, for agents that look at their own holes only."""

import numpy as np

from games.kernels.context import Context
from games.kernels.family import State
from games.sowing.packed_cells import held


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """Beans in the hole that the move sows."""
    return np.int64(held(s, slot))
