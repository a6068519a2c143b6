"""The number of beans that a move sows, for simple policies."""

import numpy as np

from games.kernels.context import Context
from games.kernels.family import State
from games.sowing.packed import held


def hole_beans(ctx: Context, s: State, slot: np.uint64) -> np.int64:
    """Return the beans in the hole that the move sows."""
    return np.int64(held(s, slot))
