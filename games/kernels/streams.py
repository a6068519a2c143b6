"""Random streams inside kernels, one for each game."""

import numpy as np

from games.kernels import splitmix
from games.kernels.bits import U
from games.kernels.jit import inlined
from games.kernels.splitmix import STRIDE

HALF = U(32)
mixed = inlined(splitmix.mixed)


@inlined
def stream(seed: np.uint64, game: np.uint64) -> np.uint64:
    """The state of the stream of one game; streams do not depend on how games are batched."""
    return mixed(seed + STRIDE * mixed(game + STRIDE))


@inlined
def below(word: np.uint64, bound: np.uint64) -> np.uint64:
    """A number below `bound` (under 2**32), drawn from the state `word` after it was advanced.

    Multiply and shift: the bias is below bound / 2**32.
    """
    return ((mixed(word) >> HALF) * bound) >> HALF
