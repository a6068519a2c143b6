"""Where a shallow search may answer for a deep one: ProbCut (Buro 1995), off unless asked for."""

import numpy as np

from agents.kernels.layout import (
    CUT_WORDS,
    CUTS,
    DEEPEST_CUT,
    GUESSES,
    PROBING,
    SHALLOWEST_CUT,
    WIN,
)
from games.kernels.bits import ONE, Truth, U
from games.kernels.context import Context
from games.kernels.jit import inlined

# Of a depth three words stand at CUTS: the depth of the shallow search, 0 for none; how far it
# must be above the window, and how far below it, in thousandths and never less than 0. So a
# shallow search without a guess that cuts is a proof.


@inlined
def _row(depth: np.int64) -> np.uint64:
    return U(CUTS) + U(CUT_WORDS) * U(depth - SHALLOWEST_CUT)


@inlined
def may_cut(ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64) -> Truth:
    """Whether a node may be cut: one of a yes-or-no question, not inside a shallow search.

    Searches to the end of the game are deeper than any that is cut.
    """
    if depth < SHALLOWEST_CUT or depth > DEEPEST_CUT or beta - alpha != 1:
        return False
    return ctx[_row(depth)] != 0 and ctx[PROBING] == 0 and alpha > -WIN and beta < WIN


@inlined
def probe(
    ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Begin it: the guesses so far, how deep to look, what to fall below or else to reach.

    What cuts nothing has guessed nothing: the guesses so far are put back.
    """
    ctx[PROBING] = 1
    row = _row(depth)
    return ctx[GUESSES], ctx[row], alpha - ctx[row + ONE + ONE], beta + ctx[row + ONE]
