"""The words of learned tables at the end of a context, and the kernels that read them."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from games.kernels.bits import IntrinsicResult, Values
from games.kernels.context import TABLE, Context
from games.kernels.jit import INTERPRETED

SHORTS_PER_WORD = 4
ShortAt = Callable[[Context, np.int64], np.int64]
LEARNED = TABLE - 1  # this word of the context says where the words of learned tables start
# They hold in this order: for each number of beans or empty squares left, the first entry of its
# phase, counted in shorts from the start of the context; the base-3 number of every combination
# of ten bits; the weights.
MOST_REMAINING = 1 << 10
TERNARY_SHORTS = 1 << 10
TERNARY_AT = MOST_REMAINING
WEIGHTS_AT = TERNARY_AT + TERNARY_SHORTS // SHORTS_PER_WORD
Shorts = NDArray[np.int16]


def _short(_typing: object, ctx: types.Type, _index: object) -> IntrinsicResult:
    """Load with one instruction, without a bounds check; negative indices are invalid."""

    def code(
        context: Any, builder: ir.IRBuilder, _signature: object, arguments: Values
    ) -> ir.Value:
        array = context.make_array(ctx)(context, builder, value=arguments[0])
        first = builder.bitcast(array.data, ir.IntType(16).as_pointer())
        number = builder.load(builder.gep(first, [arguments[1]]))
        return builder.sext(number, ir.IntType(64))

    return types.int64(ctx, types.int64), code


def _plain_short(ctx: Context, index: np.int64) -> np.int64:
    return np.int64(ctx.view(np.int16)[index])


# The number at `index`, counted in shorts from the start of the context.
short_at = _plain_short if INTERPRETED else cast("ShortAt", intrinsic(_short))


def weight_at(rules: Context, index: np.int64, place: np.int64 | int) -> np.int64:
    """Return the weight at `index`; searches bind it as `look`."""
    return short_at(rules, index)


def ternary(rules: Context, squares: np.uint64) -> np.int64:
    """Return the base-3 number of some squares, from the table in the context."""
    return short_at(rules, SHORTS_PER_WORD * (rules[LEARNED] + TERNARY_AT) + np.int64(squares))


def ternary_numbers() -> Shorts:
    """Return the base-3 number for every combination of ten bits."""
    bits = np.arange(TERNARY_SHORTS)[:, None] >> np.arange(10) & 1
    numbers: NDArray[np.int64] = bits @ 3 ** np.arange(10)
    return numbers.astype(np.int16)


def phase_of(left: NDArray[np.int64], phases: int, least: int, most: int) -> NDArray[np.int64]:
    """Return the phases of positions with `left` beans or empty squares.

    The phases are equal parts of the range from `least` to `most`.
    """
    share = (left - least) * phases // max(most - least + 1, 1)
    clipped: NDArray[np.int64] = np.clip(share, 0, phases - 1)
    return clipped


def append_tables(
    ctx: Context, entries: int, phases: NDArray[np.int64], weights: Shorts | None
) -> Context:
    """Return a copy of the context with the words of learned tables appended.

    `phases` has the phase for each number of beans or empty squares left. Without weights, entries
    are numbered from 0.
    """
    at = len(ctx)
    count = 0 if weights is None else len(weights)
    longer = np.zeros(at + WEIGHTS_AT + -(-count // SHORTS_PER_WORD), np.int64)
    longer[:at] = ctx
    longer[LEARNED] = at
    first = 0 if weights is None else SHORTS_PER_WORD * (at + WEIGHTS_AT)
    longer[at : at + MOST_REMAINING] = first + entries * phases
    shorts = longer.view(np.int16)
    shorts[SHORTS_PER_WORD * (at + TERNARY_AT) :][:TERNARY_SHORTS] = ternary_numbers()
    if weights is not None:
        shorts[first : first + count] = weights
    return longer


def unfold_weights(weights: Shorts, same: NDArray[np.int64]) -> Shorts:
    """Copy shared weights, so that there is one per entry, phase by phase."""
    place = np.searchsorted(np.unique(same), same)
    return np.ascontiguousarray(weights[:, place]).reshape(-1)
