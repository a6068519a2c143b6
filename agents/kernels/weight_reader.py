"""Reads the weights of a user's evaluation from the context, in compiled code and in Python."""

from collections import namedtuple
from functools import cache
from typing import Any, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from agents.kernels.layout import UNIT
from games.kernels.bits import Typed, Values
from games.kernels.context import Context
from games.kernels.jit import Kernel

WORD, NUMBER = ir.IntType(64), ir.DoubleType()


@cache
def weights_class(names: tuple[str, ...]) -> Kernel:
    """The named tuple in which a user's weights arrive."""
    return namedtuple("Weights", names)


def weights_type(names: tuple[str, ...]) -> types.Type:
    """What Numba calls it."""
    return numba.typeof(weights_class(names)(*[0.0] * len(names)))


def plain_weights(names: tuple[str, ...], ctx: Context) -> object:
    """The context's last words as weights, for an evaluation that Python runs."""
    words = ctx[len(ctx) - len(names) :].tolist()
    return weights_class(names)(*(word / UNIT for word in words))


def weight_reader(names: tuple[str, ...]) -> Kernel:
    """The same as a part of kernels.

    Its code is written directly: as a thousand expressions it takes four seconds to compile.
    """

    kind = weights_type(names)

    def typed(_typing: object, ctx: types.Type) -> Typed:
        def code(
            context: Any, builder: ir.IRBuilder, _signature: object, arguments: Values
        ) -> ir.Value:
            array = context.make_array(ctx)(context, builder, value=arguments[0])
            length = builder.extract_value(array.shape, 0)
            numbers = []
            for place in range(len(names)):
                word = builder.sub(length, ir.Constant(WORD, len(names) - place))
                number = builder.sitofp(builder.load(builder.gep(array.data, [word])), NUMBER)
                numbers.append(builder.fdiv(number, ir.Constant(NUMBER, UNIT)))
            return context.make_tuple(builder, kind, numbers)

        return kind(ctx), code

    return cast("Kernel", intrinsic(typed))
