"""Calling a compiled evaluation from a kernel by its address: no kernel is recompiled for it."""

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from games.kernels.bits import Typed, Values
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import INTERPRETED

Evaluate = Callable[[Context, State], np.int64]


def _call(_typing: object, address: types.Type, ctx: types.Type, state: types.Type) -> Typed:
    def code(
        context: Any, builder: ir.IRBuilder, _signature: object, arguments: Values
    ) -> ir.Value:
        kinds = (ctx, state)
        shape = context.call_conv.get_function_type(types.int64, kinds)
        function = builder.inttoptr(arguments[0], shape.as_pointer())
        status, result = context.call_conv.call_function(
            builder, function, types.int64, kinds, arguments[1:]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, ctx, state), code


def call_object(address: int, ctx: Context, state: State) -> np.int64:
    """Call the Python function whose `id` is `address`; somebody must keep it alive."""
    function: Evaluate = ctypes.cast(int(address), ctypes.py_object).value
    return np.int64(function(ctx, state))


CallEvaluator = Callable[[int, Context, State], np.int64]
# An intrinsic is typed by Numba as what it is made from.
call_evaluator = call_object if INTERPRETED else cast("CallEvaluator", intrinsic(_call))


def address_of(evaluate: Evaluate, ctx: Context, state: State) -> int:
    """The address of the compiled `evaluate`, which the caller must keep alive.

    Its native form is called, not its C form, so that an exception inside it
    reaches the caller of the search.
    """
    if INTERPRETED:
        return id(evaluate)
    function: Any = evaluate  # Numba has no type for its compiled functions
    kinds = (numba.typeof(ctx), numba.typeof(state))
    function.compile(kinds)
    compiled = function.overloads[kinds]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)
    return int(address)
