"""Numbers of 16 bits, four to a word of the context: learned weights are read so."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from games.kernels.bits import Typed, Values
from games.kernels.context import Context
from games.kernels.jit import INTERPRETED

A_WORD = 4  # numbers in a word


def _short(_typing: object, ctx: types.Type, _index: object) -> Typed:
    """One load; the place is not checked, as a negative one has no meaning here."""

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


ShortAt = Callable[[Context, np.int64], np.int64]
# The number at `index`, counted in shorts from the start of the context.
short_at = _plain_short if INTERPRETED else cast("ShortAt", intrinsic(_short))
