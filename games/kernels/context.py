"""Layout of the one int64 array that carries rules and counters through every kernel.

Each array argument of a recursive kernel costs about seven scalars a call, so
there is only one. `RULES` are written when a game is made and never again;
the words from `COUNTERS` to `TABLE` belong to the kernel that runs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Context = NDArray[np.int64]

RULES = 0
COUNTERS = 32
TABLE = 256

# Counters of `drivers.count_plies`, by ply: legal moves seen, and games that had ended.
DEEPEST = 100
LEAVES = COUNTERS
ENDED = COUNTERS + DEEPEST + 1

# Counters of `drivers.play_random`.
WINS, DRAWS, LOSSES, MOVES, MARGINS = range(COUNTERS, COUNTERS + 5)

PASS = -1  # stands for a slot where the mover must pass


def context(rules: Sequence[int], table: Sequence[int]) -> Context:
    """A context with the rule scalars and the family's `table` of 64-bit words."""
    if len(rules) > COUNTERS - RULES:
        raise ValueError(f"at most {COUNTERS - RULES} rule scalars fit, got {len(rules)}")
    words = np.zeros(TABLE + len(table), np.uint64)
    words[RULES : RULES + len(rules)] = rules
    words[TABLE:] = table
    return words.view(np.int64)
