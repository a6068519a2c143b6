"""Compile and call a user's evaluation."""

import inspect
import warnings
from collections import deque, namedtuple
from collections.abc import Mapping
from functools import cache, partial
from keyword import iskeyword
from numbers import Real
from types import FunctionType
from typing import Any, NoReturn, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import NumbaError, NumbaWarning
from numba.extending import intrinsic

from agents.core import AgentFailure, Weights
from agents.evaluation.compile_reasons import compile_reasons
from agents.evaluation.features import Evaluate, address_of, rounded
from agents.evaluation.user_names import (
    ALLOCATING,
    FAST,
    compiled_copy,
    instead_of,
    missing_name,
    plain_copy,
    plain_names,
    user_names,
)
from agents.evaluation.weights import checked_weights
from agents.search.bind import agent_kernels
from agents.search.context import EVALUATOR, UNIT
from agents.user_files import load_object, user_traceback
from games import Game, Position
from games.kernels.bits import Typed, Values
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import (
    INTERPRETED,
    MERGED,
    CompileOptions,
    Kernel,
    compile_error,
    inlined,
    unbound,
)

WORD, NUMBER = ir.IntType(64), ir.DoubleType()
MOST_TRACED = 5_000  # positions in which Python looks for an error once more; no clock decides
MOST_WEIGHTS = 2000  # they take half a second to compile
NAN = "the evaluation is nan, which is not a number"


@cache
def weights_class(names: tuple[str, ...]) -> Kernel:
    """The named tuple in which a user's weights arrive."""
    return namedtuple("Weights", names)


def weights_type(names: tuple[str, ...]) -> types.Type:
    """What Numba calls it."""
    return numba.typeof(weights_class(names)(*[0.0] * len(names)))


def plain_weights(names: tuple[str, ...], ctx: Context) -> object:
    """The context's last words as weights, where Python runs the evaluation."""
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


class OwnEvaluation:
    """A user's evaluation bound to one game; it keeps the compiled code alive."""

    def __init__(self, reference: str, of: Game, trusted: bool = False) -> None:
        """`reference` is `path.py:function`.

        `trusted`: its indices are not checked, and one out of bounds reads what lies there.
        """
        self.reference, self.trusted = reference, trusted
        self.game = of
        self.path, function = load_object(reference, "evaluate")
        self.function = unbound(function)
        if not isinstance(self.function, FunctionType):
            self._fail(f"cannot be used: {function!r} is not a function")
        if missing := missing_name(self.function, partial(instead_of, of)):
            self._fail(f"cannot be used: {missing}")
        self.takes = self._arguments()
        self.defaults = self._declared_weights()
        self.weight_names = tuple(self.defaults)
        self.traces: dict[str, str] = {}  # of errors, with their lines

    def _fail(self, message: str, trace: str = "") -> NoReturn:
        raise AgentFailure("unloadable", self.reference, "", message, trace)

    def failure(self, position: Position, error: Exception) -> AgentFailure:
        """What to raise when the evaluation raised `error` in a search from `position`."""
        where, trace = self.game.text(position), self._trace(position, error)
        return AgentFailure("raised", self.reference, where, "raised", trace)

    def _trace(self, position: Position, error: Exception) -> str:
        """The lines of the user's file that raised an error in a search from `position`.

        Numba does not say where it divides by zero or leaves an array: Python does it again.
        """
        trace = user_traceback(error, self.path)
        if "File " in trace or INTERPRETED:
            return trace
        if trace not in self.traces:
            self.traces[trace] = self._trace_by_python(position, error)
        return self.traces[trace] or trace

    def _trace_by_python(self, position: Position, error: Exception) -> str:
        """The same error raised by Python, in the first position of those that follow."""
        restored = self.game.family.restored
        evaluate = plain_copy(self.function, plain_names(self.game.family_name, restored))
        more = (plain_weights(self.weight_names, self.context),) if self.takes == 3 else ()
        queue = deque([position])
        for _ in range(MOST_TRACED):
            if not queue:
                break
            each = queue.popleft()
            try:
                with np.errstate(divide="raise"):
                    evaluate(self.context, restored(each.state), *more)
            except (type(error), FloatingPointError) as again:
                return user_traceback(error.with_traceback(again.__traceback__), self.path)
            except Exception:
                continue
            if not self.game.over(each) and len(queue) < MOST_TRACED:
                queue += [self.game.play(each, move) for move in self.game.legal(each)]
        return ""

    def _arguments(self) -> int:
        names = list(inspect.signature(self.function).parameters)
        if not 2 <= len(names) <= 3:
            self._fail(
                "must take (rules, position) or (rules, position, weights), got "
                f"({', '.join(names)})"
            )
        return len(names)

    def _declared_weights(self) -> Weights:
        """The names and defaults of the file's WEIGHTS."""
        declared: object = self.function.__globals__.get("WEIGHTS", {})
        if not isinstance(declared, Mapping) or len(declared) > MOST_WEIGHTS:
            self._fail(
                f"must declare WEIGHTS as a dict of at most {MOST_WEIGHTS:,} names and numbers"
            )
        for name in declared:
            if not (isinstance(name, str) and name.isidentifier()) or iskeyword(name):
                self._fail(f"must name its WEIGHTS as in weights.pot, got {name!r}")
        if self.takes == 3 and not declared:
            self._fail('takes weights, so its file must say WEIGHTS = {"name": number, ...}')
        return self._one_phase(checked_weights(declared, list(declared)))

    def _one_phase(self, weights: Weights) -> Weights:
        for name, values in weights.items():
            if len(values) > 1:
                self._fail(f"takes one number a weight, not one a phase; {name} has {values}")
        return weights

    def numbers(self, changes: Weights) -> list[float]:
        """The declared weights with the changes of a spec, in the order of their declaration."""
        changed = self._one_phase(checked_weights(changes, self.weight_names))
        numbers = {**self.defaults, **changed}
        return [numbers[name][0] for name in self.weight_names]

    def address(self, ctx: Context) -> int:
        """The address of the compiled evaluation, which the context then has, and was tried by.

        AgentFailure says why it does not compile, or what it raises at the start of the game.
        """
        state, self.context = self.game.start().state, ctx
        self.entry = self._plain_entry() if INTERPRETED else self._compiled_entry(ctx, state)
        address = address_of(self.entry, ctx, state)
        ctx[EVALUATOR] = address
        try:
            agent_kernels(self.game.family_name).standing(ctx, state)
        except Exception as error:
            trace = self._trace(self.game.start(), error)
            self._fail("raised at the start of the game:", trace)
        return address

    def _compiled_entry(self, ctx: Context, state: State) -> Evaluate:
        """Compiled once for all agents that use it: weights are read when it is called."""
        kinds = (numba.typeof(ctx), numba.typeof(state))
        family = self.game.family_name
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                return compiled_entry(
                    self.function, family, self.takes, self.weight_names, kinds, self.trusted
                )
        except NotANumber as error:
            self._fail(f"cannot be used: {error}")
        except Exception as error:  # Numba's own, or what a look at the user's names raises
            self._fail("cannot be compiled:", self._compile_problem(error))

    def _compile_problem(self, error: Exception) -> str:
        """The lines that cannot be compiled, each with its reason."""
        reasons = compile_reasons(self.function, self.game, self.weight_names)
        if not reasons:
            return compile_error(error, self.path)
        return "\n".join(each.words(self.path) for each in reasons)

    def _plain_entry(self) -> Evaluate:
        """The evaluation run by Python, where nothing is compiled."""
        restored = self.game.family.restored
        evaluate = plain_copy(self.function, plain_names(self.game.family_name, restored))

        def value(ctx: Context, raw: State) -> np.int64:
            more = (plain_weights(self.weight_names, ctx),) if self.takes == 3 else ()
            return plain_score(evaluate(ctx, restored(raw), *more))

        return value


class NotANumber(TypeError):  # noqa: N818  # what is wrong, as in IllegalMove
    """An evaluation that does not return a number."""


@cache
def compiled_entry(
    function: FunctionType,
    family: str,
    takes: int,
    weight_names: tuple[str, ...],
    kinds: tuple[types.Type, ...],
    trusted: bool,
) -> Evaluate:
    """The evaluation compiled for one family: a score in thousandths.

    Memory management costs time in every call, so it is left out where it can be.
    """
    weights = weight_reader(weight_names)
    names = user_names(family)
    more = (weights_type(weight_names),)
    arguments = kinds + more if takes == 3 else kinds
    for options in (FAST, ALLOCATING):
        evaluate = compiled_copy(function, names, options | {"boundscheck": not trusted})
        try:
            evaluate.compile(arguments)
            break
        except NumbaError:
            if options is ALLOCATING:
                raise
    refuse_other_returns(evaluate.nopython_signatures[0].return_type)

    def value(ctx: Context, s: State) -> np.int64:
        return score_of(evaluate(ctx, s))

    def weighted_value(ctx: Context, s: State) -> np.int64:
        return score_of(evaluate(ctx, s, weights(ctx)))

    return entry_point(weighted_value if takes == 3 else value, options)


def entry_point(function: Evaluate, options: CompileOptions) -> Evaluate:
    """What searches call by its address; Python does not, and its own entry takes half the time."""
    kept = {key: options[key] for key in options if key not in MERGED}
    make = numba.njit(**kept | {"no_cpython_wrapper": True})
    return cast("Evaluate", make(function))


def refuse_other_returns(kind: types.Type) -> None:
    """Raise NotANumber if an evaluation returns something else."""
    if isinstance(kind, types.Integer | types.Float | types.Boolean):
        return
    what = "nothing" if isinstance(kind, types.NoneType) else str(kind)
    if isinstance(kind, types.Optional):
        what = "nothing on some paths"
    if isinstance(kind, types.UnicodeType | types.StringLiteral):
        what = "a string"
    raise NotANumber(f"it must return a number, but returns {what}")


def thousandths(value: np.float64) -> np.int64:
    """The score of the search for an evaluation."""
    if np.isnan(1.0 * value):
        raise ValueError(NAN)
    return rounded(1000.0 * value)


score_of = inlined(thousandths)


def plain_score(value: object) -> np.int64:
    """`thousandths` for an evaluation run by Python, which may return anything."""
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"an evaluation must return a number, got {value!r}")
    number = float(value)
    if np.isnan(number):
        raise ValueError(NAN)
    return np.int64(unbound(rounded)(1000.0 * number))
