"""The splitmix64 generator of random words, for single words or whole arrays.

This is plain NumPy: the arena draws seeds without a compiler, and `streams` compiles it.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Words = TypeVar("Words", np.uint64, NDArray[np.uint64])

STRIDE = np.uint64(0x9E37_79B9_7F4A_7C15)
MIX_1 = np.uint64(0xBF58_476D_1CE4_E5B9)
MIX_2 = np.uint64(0x94D0_49BB_1331_11EB)
S27, S30, S31 = np.uint64(27), np.uint64(30), np.uint64(31)


def mixed(word: Words) -> Words:
    """Scramble a word so that similar words become unrelated (the splitmix64 finalizer)."""
    word = (word ^ (word >> S30)) * MIX_1
    word = (word ^ (word >> S27)) * MIX_2
    return word ^ (word >> S31)
