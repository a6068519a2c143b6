"""Random streams inside kernels, one for each game."""

import numpy as np

from games.kernels import splitmix
from games.kernels.bits import U
from games.kernels.jit import inline
from games.kernels.splitmix import STRIDE

HALF = U(32)
mixed = inline(splitmix.mixed)


@inline
def stream(seed: np.uint64, game: np.uint64) -> np.uint64:
    """Return the initial state of a game's stream, independent of the batches of games."""
    return mixed(seed + STRIDE * mixed(game + STRIDE))


@inline
def below(word: np.uint64, bound: np.uint64) -> np.uint64:
    """Return a number below `bound` (under 2**32) from the advanced state `word`.

    Multiply and shift: the bias is below bound / 2**32.
    """
    return ((mixed(word) >> HALF) * bound) >> HALF
