"""Random numbers for kernels: splitmix64, one independent stream a game."""

import numpy as np

from games.kernels.bits import U
from games.kernels.jit import inlined

STRIDE = U(0x9E37_79B9_7F4A_7C15)
MIX_1 = U(0xBF58_476D_1CE4_E5B9)
MIX_2 = U(0x94D0_49BB_1331_11EB)
S27, S30, S31, S32 = U(27), U(30), U(31), U(32)


@inlined
def mixed(word: np.uint64) -> np.uint64:
    """A word scrambled so that near words become unrelated (the splitmix64 finalizer)."""
    word = (word ^ (word >> S30)) * MIX_1
    word = (word ^ (word >> S27)) * MIX_2
    return word ^ (word >> S31)


@inlined
def stream(seed: np.uint64, game: np.uint64) -> np.uint64:
    """The state of the stream of one game; streams do not depend on how games are batched."""
    return mixed(seed + STRIDE * mixed(game + STRIDE))


@inlined
def below(word: np.uint64, bound: np.uint64) -> np.uint64:
    """A number below `bound` (under 2**32) drawn from the state `word`, after it was advanced.

    Multiply and shift: the bias is below bound / 2**32.
    """
    return ((mixed(word) >> S32) * bound) >> S32
