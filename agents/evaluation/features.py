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
from games.kernels.bits import IntrinsicResult, Values
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import INTERPRETED, Kernel, inline

Evaluate = Callable[[Context, State], np.int64]
CallEvaluator = Callable[[int, Context, State], np.int64]
HIGHEST_GUESS = WIN - 1


def _call(
    _typing: object, address: types.Type, ctx: types.Type, state: types.Type
) -> IntrinsicResult:
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


def call_python(address: int, ctx: Context, state: State) -> np.int64:
    """Call the Python function whose `id` is `address`; the caller must keep it alive."""
    function: Evaluate = ctypes.cast(int(address), ctypes.py_object).value
    return np.int64(function(ctx, state))


# Numba declares an intrinsic with the type of its generator.
call_evaluator = call_python if INTERPRETED else cast("CallEvaluator", intrinsic(_call))


def evaluation_address(evaluate: Evaluate, ctx: Context, state: State) -> int:
    """Return the address of the compiled `evaluate`, which the caller must keep alive.

    The native entry is called, not the C entry, so that an exception reaches the caller of the
    search.
    """
    if INTERPRETED:
        return id(evaluate)
    function: Any = evaluate  # Numba's dispatchers have no static type
    kinds = (numba.typeof(ctx), numba.typeof(state))
    function.compile(kinds)
    compiled = function.overloads[kinds]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)
    return int(address)


@inline
def difference(own: np.int64, other: np.int64) -> np.int64:
    """Return own minus other."""
    return own - other


@inline
def ratio(own: np.int64, other: np.int64) -> float:
    """Return 100 (own - other) / (|own| + |other|), or 0 if both are 0."""
    total = abs(own) + abs(other)
    return 100.0 * float(own - other) / float(total) if total != 0 else 0.0


@inline
def clamp(value: np.int64) -> np.int64:
    """Limit a score to less than the score of any finished game."""
    return max(min(value, np.int64(HIGHEST_GUESS)), np.int64(-HIGHEST_GUESS))


@inline
def round_score(value: np.float64) -> np.int64:
    """Round to the nearest score, halves away from zero so that both sides round alike."""
    if not value > -HIGHEST_GUESS:  # also true for nan
        return np.int64(-HIGHEST_GUESS)
    half = 0.5 if value > 0.0 else -0.5
    return np.int64(min(value, float(HIGHEST_GUESS)) + half)


# How features are compared between the sides, and how the sum becomes a score.
TERMS: Mapping[str, tuple[Kernel, Kernel]] = {
    "difference": (difference, clamp),
    "ratio": (ratio, round_score),
}


def bind_weighted_sum(
    features: Sequence[Kernel], term: Kernel, to_score: Kernel, progress: Kernel, turned: Kernel
) -> Kernel:
    """Return the evaluation that sums the weighted terms of all `features`.

    `to_score` turns the sum into a score. The weights come from the context, for the phase that
    `progress` returns. A feature without a weight is not computed.
    """

    @inline
    def no_feature(ctx: Context, s: State, t: State, base: int) -> int:
        return 0

    total: Kernel = no_feature
    for place, feature in enumerate(features):
        total = _add_term(total, feature, term, place)

    @inline
    def evaluate(ctx: Context, s: State) -> np.int64:
        base = WEIGHTS
        if ctx[PHASES] > 1:
            base += MOST_FEATURES * progress(ctx, s, ctx[PHASES])
        return to_score(total(ctx, s, turned(s), base))

    return evaluate


def _add_term(others: Kernel, feature: Kernel, term: Kernel, place: int) -> Kernel:

    @inline
    def total(ctx: Context, s: State, t: State, base: int) -> float:
        weight = ctx[base + place]
        value = others(ctx, s, t, base)
        return value + weight * term(feature(ctx, s), feature(ctx, t)) if weight != 0 else value

    return total
