"""The weighted sum of features, and evaluations called by address."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from agents.search.context import MOST_FEATURES, PHASES, WEIGHTS, WIN
from games.kernels.bits import Typed, Values
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import INTERPRETED, Kernel, inlined

Evaluate = Callable[[Context, State], np.int64]
CallEvaluator = Callable[[int, Context, State], np.int64]
HIGHEST_GUESS = WIN - 1


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


@inlined
def difference(own: np.int64, other: np.int64) -> np.int64:
    """Own minus other."""
    return own - other


@inlined
def ratio(own: np.int64, other: np.int64) -> float:
    """100 (a - b) / (|a| + |b|), in -100..100; 0 when both are 0."""
    total = abs(own) + abs(other)
    return 100.0 * float(own - other) / float(total) if total != 0 else 0.0


@inlined
def clamped(value: np.int64) -> np.int64:
    """A score limited to less than any finished game is worth."""
    return max(min(value, np.int64(HIGHEST_GUESS)), np.int64(-HIGHEST_GUESS))


@inlined
def rounded(value: np.float64) -> np.int64:
    """The nearest score, halves away from zero so that both sides round alike."""
    if not value > -HIGHEST_GUESS:  # also catches what is not a number
        return np.int64(-HIGHEST_GUESS)
    half = 0.5 if value > 0.0 else -0.5
    return np.int64(min(value, float(HIGHEST_GUESS)) + half)


# How a pack's features are compared between the sides, and how the sum becomes a score.
TERMS: Mapping[str, tuple[Kernel, Kernel]] = {
    "difference": (difference, clamped),
    "ratio": (ratio, rounded),
}


def weighted(
    features: Sequence[Kernel], term: Kernel, whole: Kernel, progress: Kernel, turned: Kernel
) -> Kernel:
    """The compiled evaluation: the weighted sum of the terms of all `features`, made `whole`.

    Weights are read from the context, those of the phase that `progress` of the
    game falls in; a feature without weight is not counted.
    """

    @inlined
    def no_feature(ctx: Context, s: State, t: State, base: int) -> int:
        return 0

    total: Kernel = no_feature
    for place, feature in enumerate(features):
        total = _with_term(total, feature, term, place)

    @inlined
    def evaluate(ctx: Context, s: State) -> np.int64:
        base = WEIGHTS
        if ctx[PHASES] > 1:
            base += MOST_FEATURES * progress(ctx, s, ctx[PHASES])
        return whole(total(ctx, s, turned(s), base))

    return evaluate


def _with_term(others: Kernel, feature: Kernel, term: Kernel, place: int) -> Kernel:
    """The sum of `others` and one more feature, whose weight stands at `place`."""

    @inlined
    def total(ctx: Context, s: State, t: State, base: int) -> float:
        weight = ctx[base + place]
        value = others(ctx, s, t, base)
        return value + weight * term(feature(ctx, s), feature(ctx, t)) if weight != 0 else value

    return total
