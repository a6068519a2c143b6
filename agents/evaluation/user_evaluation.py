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
from agents.evaluation.features import Evaluate, evaluation_address, round_score
from agents.evaluation.user_names import (
    ALLOCATING,
    FAST,
    compile_copy,
    missing_name,
    plain_copy,
    plain_names,
    suggest_name,
    user_names,
)
from agents.evaluation.weights import validate_weights
from agents.search.bind import search_kernels
from agents.search.context import EVALUATOR, UNIT
from agents.user_files import load_object, user_traceback
from games import Game, Position
from games.kernels.bits import IntrinsicResult, Values
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import (
    INLINE,
    INTERPRETED,
    CompileOptions,
    Kernel,
    inline,
    python_function,
    short_compile_error,
)

WORD, NUMBER = ir.IntType(64), ir.DoubleType()
MOST_TRACED = 5_000  # positions tried again for a trace; not seconds, so that traces are equal
MOST_WEIGHTS = 2000  # compiled in half a second
NAN = "the evaluation is nan, which is not a number"


@cache
def weights_class(names: tuple[str, ...]) -> Kernel:
    """Return the named tuple that passes weights to a user's evaluation."""
    return namedtuple("Weights", names)


def weights_type(names: tuple[str, ...]) -> types.Type:
    """Return the Numba type of that named tuple."""
    return numba.typeof(weights_class(names)(*[0.0] * len(names)))


def plain_weights(names: tuple[str, ...], ctx: Context) -> object:
    """Return the weights at the end of the context, for interpreted evaluations."""
    words = ctx[len(ctx) - len(names) :].tolist()
    return weights_class(names)(*(word / UNIT for word in words))


def weight_reader(names: tuple[str, ...]) -> Kernel:
    """Return an intrinsic that reads the weights at the end of the context.

    The LLVM code is written directly: a thousand expressions would take four seconds to compile.
    """

    kind = weights_type(names)

    def type_and_code(_typing: object, ctx: types.Type) -> IntrinsicResult:
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

    return cast("Kernel", intrinsic(type_and_code))


class UserEvaluation:
    """A user's evaluation bound to one game; it keeps the compiled code alive.

    `reference` is `path.py:function`. A `trusted` evaluation runs without bounds checks.
    """

    def __init__(self, reference: str, game: Game, trusted: bool = False) -> None:
        self.reference, self.trusted = reference, trusted
        self.game = game
        self.path, function = load_object(reference, "evaluate")
        self.function = python_function(function)
        if not isinstance(self.function, FunctionType):
            self._fail(f"cannot be used: {function!r} is not a function")
        if missing := missing_name(self.function, partial(suggest_name, game)):
            self._fail(f"cannot be used: {missing}")
        self.argument_count = self._count_arguments()
        self.defaults = self._read_weights()
        self.weight_names = tuple(self.defaults)
        self.traces: dict[str, str] = {}  # by error text

    def _fail(self, message: str, trace: str = "") -> NoReturn:
        raise AgentFailure("unloadable", self.reference, "", message, trace)

    def failure(self, position: Position, error: Exception) -> AgentFailure:
        """Return the failure for an `error` raised by the evaluation during a search."""
        where, trace = self.game.text(position), self._trace(position, error)
        return AgentFailure("raised", self.reference, where, "raised", trace)

    def _trace(self, position: Position, error: Exception) -> str:
        """Return the lines of the user's file that raised an error.

        Numba does not report the line of a division by zero or an index error, so the interpreter
        runs the evaluation again.
        """
        trace = user_traceback(error, self.path)
        if "File " in trace or INTERPRETED:
            return trace
        if trace not in self.traces:
            self.traces[trace] = self._trace_by_python(position, error)
        return self.traces[trace] or trace

    def _trace_by_python(self, position: Position, error: Exception) -> str:
        """Look for the same error with the interpreter, in later positions; return its trace."""
        restored = self.game.family.from_words
        evaluate = plain_copy(self.function, plain_names(self.game.family_name, restored))
        more = (plain_weights(self.weight_names, self.context),) if self.argument_count == 3 else ()
        queue = deque([position])
        for _ in range(MOST_TRACED):
            if not queue:
                break
            later = queue.popleft()
            try:
                with np.errstate(divide="raise"):
                    evaluate(self.context, restored(later.state), *more)
            except (type(error), FloatingPointError) as again:
                return user_traceback(error.with_traceback(again.__traceback__), self.path)
            except Exception:
                continue
            if not self.game.over(later) and len(queue) < MOST_TRACED:
                queue += [self.game.play(later, move) for move in self.game.legal(later)]
        return ""

    def _count_arguments(self) -> int:
        names = list(inspect.signature(self.function).parameters)
        if not 2 <= len(names) <= 3:
            self._fail(
                "must take (rules, position) or (rules, position, weights), got "
                f"({', '.join(names)})"
            )
        return len(names)

    def _read_weights(self) -> Weights:
        declared: object = self.function.__globals__.get("WEIGHTS", {})
        if not isinstance(declared, Mapping) or len(declared) > MOST_WEIGHTS:
            self._fail(
                f"must declare WEIGHTS as a dict of at most {MOST_WEIGHTS:,} names and numbers"
            )
        for name in declared:
            if not (isinstance(name, str) and name.isidentifier()) or iskeyword(name):
                self._fail(f"must name its WEIGHTS as in weights.pot, got {name!r}")
        if self.argument_count == 3 and not declared:
            self._fail('takes weights, so its file must define WEIGHTS = {"name": number, ...}')
        return self._require_one_phase(validate_weights(declared, list(declared)))

    def _require_one_phase(self, weights: Weights) -> Weights:
        for name, values in weights.items():
            if len(values) > 1:
                self._fail(f"takes one number per weight, not one per phase; {name} has {values}")
        return weights

    def numbers(self, changes: Weights) -> list[float]:
        """Return the declared weights with the changes of a spec, in the order of declaration."""
        changed = self._require_one_phase(validate_weights(changes, self.weight_names))
        numbers = {**self.defaults, **changed}
        return [numbers[name][0] for name in self.weight_names]

    def address(self, ctx: Context) -> int:
        """Compile the evaluation, store its address in the context, and try it there.

        Raise an AgentFailure with the reasons if it does not compile, or with the trace if it
        raises an error at the start position.
        """
        state, self.context = self.game.start().state, ctx
        self.entry = self._interpret() if INTERPRETED else self._compile(ctx, state)
        address = evaluation_address(self.entry, ctx, state)
        ctx[EVALUATOR] = address
        try:
            search_kernels(self.game.family_name).position_value(ctx, state)
        except Exception as error:
            trace = self._trace(self.game.start(), error)
            self._fail("raised at the start of the game:", trace)
        return address

    def _compile(self, ctx: Context, state: State) -> Evaluate:
        kinds = (numba.typeof(ctx), numba.typeof(state))
        family = self.game.family_name
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                return compile_evaluation(
                    self.function,
                    family,
                    self.argument_count,
                    self.weight_names,
                    kinds,
                    self.trusted,
                )
        except NonNumericResult as error:
            self._fail(f"cannot be used: {error}")
        except Exception as error:  # Numba's, or raised while reading the user's names
            self._fail("cannot be compiled:", self._compile_problem(error))

    def _compile_problem(self, error: Exception) -> str:
        reasons = compile_reasons(self.function, self.game, self.weight_names)
        if not reasons:
            return short_compile_error(error, self.path)
        return "\n".join(reason.line_text(self.path) for reason in reasons)

    def _interpret(self) -> Evaluate:
        restored = self.game.family.from_words
        evaluate = plain_copy(self.function, plain_names(self.game.family_name, restored))

        def value(ctx: Context, raw: State) -> np.int64:
            more = (plain_weights(self.weight_names, ctx),) if self.argument_count == 3 else ()
            return plain_score(evaluate(ctx, restored(raw), *more))

        return value


class NonNumericResult(TypeError):  # noqa: N818  # named like IllegalMove
    """An evaluation that does not return a number."""


@cache
def compile_evaluation(
    function: FunctionType,
    family: str,
    argument_count: int,
    weight_names: tuple[str, ...],
    kinds: tuple[types.Type, ...],
    trusted: bool,
) -> Evaluate:
    """Return the evaluation compiled for one family, with scores in thousandths.

    Reference counting slows down every call, so it is left out where the code allows that.
    """
    weights = weight_reader(weight_names)
    names = user_names(family)
    more = (weights_type(weight_names),)
    arguments = kinds + more if argument_count == 3 else kinds
    for options in (FAST, ALLOCATING):
        evaluate = compile_copy(function, names, options | {"boundscheck": not trusted})
        try:
            evaluate.compile(arguments)
            break
        except NumbaError:
            if options is ALLOCATING:
                raise
    require_number(evaluate.nopython_signatures[0].return_type)

    def value(ctx: Context, s: State) -> np.int64:
        return score_of(evaluate(ctx, s))

    def value_with_weights(ctx: Context, s: State) -> np.int64:
        return score_of(evaluate(ctx, s, weights(ctx)))

    return compile_entry(value_with_weights if argument_count == 3 else value, options)


def compile_entry(function: Evaluate, options: CompileOptions) -> Evaluate:
    """Compile an entry that searches call by address; none for Python, which halves the time."""
    kept = {key: options[key] for key in options if key not in INLINE}
    make = numba.njit(**kept | {"no_cpython_wrapper": True})
    return cast("Evaluate", make(function))


def require_number(kind: types.Type) -> None:
    """Raise NonNumericResult unless an evaluation returns a number."""
    if isinstance(kind, types.Integer | types.Float | types.Boolean):
        return
    what = "nothing" if isinstance(kind, types.NoneType) else str(kind)
    if isinstance(kind, types.Optional):
        what = "nothing on some paths"
    if isinstance(kind, types.UnicodeType | types.StringLiteral):
        what = "a string"
    raise NonNumericResult(f"it must return a number, but returns {what}")


def to_thousandths(value: np.float64) -> np.int64:
    """Convert the result of an evaluation to a score."""
    if np.isnan(1.0 * value):
        raise ValueError(NAN)
    return round_score(1000.0 * value)


score_of = inline(to_thousandths)


def plain_score(value: object) -> np.int64:
    """Convert the result of an interpreted evaluation, which may have any type."""
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"an evaluation must return a number, got {value!r}")
    number = float(value)
    if np.isnan(number):
        raise ValueError(NAN)
    return np.int64(python_function(round_score)(1000.0 * number))
