"""The words of learned tables at the end of a context, and how kernels read them."""

import numpy as np
from numpy.typing import NDArray

from games.kernels.context import TABLE, Context
from games.kernels.shorts import A_WORD, short_at

LEARNED = TABLE - 1  # the word of the context that says where the words of learned tables begin
# What begins there: for so many beans or empties the first entry of their phase, in shorts from
# the start of the context; the base-3 number of ten bits; the weights.
MOST_REMAINING = 1 << 10
TERNARY_SHORTS = 1 << 10
TERNARY_AT = MOST_REMAINING
WEIGHTS_AT = TERNARY_AT + TERNARY_SHORTS // A_WORD
Shorts = NDArray[np.int16]


def weight_at(rules: Context, index: np.int64, place: np.int64 | int) -> np.int64:
    """`look` of a search: the weight itself."""
    return short_at(rules, index)


def ternary(rules: Context, squares: np.uint64) -> np.int64:
    """The base-3 number of some squares, from the table in the context."""
    return short_at(rules, A_WORD * (rules[LEARNED] + TERNARY_AT) + np.int64(squares))


def ternary_numbers() -> Shorts:
    """For ten bits the number that has them as its digits in base 3."""
    bits = np.arange(TERNARY_SHORTS)[:, None] >> np.arange(10) & 1
    numbers: NDArray[np.int64] = bits @ 3 ** np.arange(10)
    return numbers.astype(np.int16)


def phase_of(left: NDArray[np.int64], phases: int, least: int, most: int) -> NDArray[np.int64]:
    """The phase of positions with so much left: equal shares from `least` to `most`."""
    share = (left - least) * phases // max(most - least + 1, 1)
    clipped: NDArray[np.int64] = np.clip(share, 0, phases - 1)
    return clipped


def with_block(
    ctx: Context, entries: int, phases: NDArray[np.int64], weights: Shorts | None
) -> Context:
    """A copy of the context with the words that learned tables need at its end.

    `phases` are the phases by how much is left; without weights there is only their place.
    """
    at = len(ctx)
    count = 0 if weights is None else len(weights)
    longer = np.zeros(at + WEIGHTS_AT + -(-count // A_WORD), np.int64)
    longer[:at] = ctx
    longer[LEARNED] = at
    first = 0 if weights is None else A_WORD * (at + WEIGHTS_AT)
    longer[at : at + MOST_REMAINING] = first + entries * phases
    shorts = longer.view(np.int16)
    shorts[A_WORD * (at + TERNARY_AT) :][:TERNARY_SHORTS] = ternary_numbers()
    if weights is not None:
        shorts[first : first + count] = weights
    return longer


def unfolded(weights: Shorts, same: NDArray[np.int64]) -> Shorts:
    """A weight for every entry, phase after phase, from one for all that share it."""
    place = np.searchsorted(np.unique(same), same)
    return np.ascontiguousarray(weights[:, place]).reshape(-1)
