"""Layout of the one int64 array that carries rules and counters through every kernel.

Each array argument of a recursive kernel costs about seven scalars per call, so there is only
one array. The rules are written when a game is made and never change. The words from `COUNTERS`
to `TABLE` belong to the running kernel.
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
PASS = -1  # instead of a slot: the mover must pass
LOOK = -2  # instead of a slot: only list the legal moves
# A board is an array of words: HEAD to COUNT, the state from STATE on, then the legal slots.
HEAD, MOVER, LEFT, COUNT, STATE = range(5)


def context(rules: Sequence[int], table: Sequence[int]) -> Context:
    """Return a context with the rule scalars and the family's `table` of 64-bit words."""
    if len(rules) > COUNTERS - RULES:
        raise ValueError(f"at most {COUNTERS - RULES} rule scalars fit, got {len(rules)}")
    words = np.zeros(TABLE + len(table), np.uint64)
    words[RULES : RULES + len(rules)] = rules
    words[TABLE:] = table
    return words.view(np.int64)
