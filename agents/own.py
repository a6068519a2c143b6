"""A user's own evaluation: plain Python, compiled on the spot and called by the search.

The function is copied with the feature names it uses bound to the family of the
game, so that one file serves every size; the search itself is not recompiled.
"""

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core.errors import NumbaError

from agents.core import AgentFailure, Weights
from agents.features.terms import rounded
from agents.files import load_name, own_trace
from agents.kernels.bind import bound_features
from agents.kernels.evaluator import address_of
from agents.kernels.layout import MOST_FEATURES, UNIT, WEIGHTS
from agents.weights import checked_weights
from games import Game
from games.context import Context
from games.family import State
from games.jit import INTERPRETED, inlined

Evaluate = Callable[..., Any]

_plain_values: dict[int, Callable[[Context, Any], int]] = {}


class OwnEvaluation:
    """One user's evaluation bound to one game; keeps the compiled code alive."""

    def __init__(self, reference: str, of: Game, compiled: bool) -> None:
        """`reference` is `path.py:function`; `compiled` False runs it in Python, slowly."""
        self.reference = reference
        self.game = of
        self.compiled = compiled and not INTERPRETED
        self.path, self.function = load_name(reference, "evaluate")
        if not isinstance(self.function, FunctionType):
            self._fail("is not a plain Python function")
        self.takes = self._arguments()
        self.defaults = self._declared_weights()
        self.weight_names = tuple(self.defaults)

    def _fail(self, told: str, trace: str = "") -> None:
        raise AgentFailure("unloadable", self.reference, "", told, trace)

    def _arguments(self) -> int:
        names = list(inspect.signature(self.function).parameters)
        if not 2 <= len(names) <= 3:
            self._fail(
                "must take (rules, position) or (rules, position, weights), got "
                f"({', '.join(names)})"
            )
        return len(names)

    def _declared_weights(self) -> Weights:
        """The names and defaults in the file's own WEIGHTS."""
        declared: Any = getattr(inspect.getmodule(self.function), "WEIGHTS", {})
        declared = self.function.__globals__.get("WEIGHTS", declared)
        if not isinstance(declared, Mapping) or len(declared) > MOST_FEATURES:
            self._fail(f"WEIGHTS must be a dict of at most {MOST_FEATURES} names and numbers")
        if self.takes == 3 and not declared:
            self._fail('takes weights, so its file must say WEIGHTS = {"name": number, ...}')
        return checked_weights(declared, list(declared))

    def weights(self, given: Mapping[str, Any]) -> Weights:
        """The declared weights, changed by those of the spec."""
        return {**self.defaults, **checked_weights(given, self.weight_names)}

    def address(self, ctx: Context) -> int:
        """Where the compiled evaluation begins; a failure says why it does not compile."""
        self.entry = self._compiled_entry() if self.compiled else self._plain_entry()
        try:
            address = address_of(self.entry, ctx, self.game.start().state)
        except NumbaError as error:
            self._fail(NOT_COMPILED, compile_error(error, self.path))
        try:
            self.entry(ctx, self.game.start().state)
        except Exception as error:
            self._fail("raised at the start of the game:", own_trace(error, self.path))
        return address

    def _compiled_entry(self) -> Any:
        names = bound_features(self.game.family_name)
        evaluate = bound_copy(self.function, names, {})
        weights = weight_reader(self.weight_names)
        if self.takes == 2:

            def value(ctx: Context, s: State) -> Any:
                return rounded(1000.0 * evaluate(ctx, s))

        else:

            def value(ctx: Context, s: State) -> Any:
                return rounded(1000.0 * evaluate(ctx, s, weights(ctx)))

        make: Any = numba.njit(nogil=True, error_model="numpy")
        return make(value)

    def _plain_entry(self) -> Any:
        """The evaluation run by Python: slow, but anything goes."""
        evaluate = plain_copy(self.function, bound_features(self.game.family_name))
        weights: Any = weight_reader(self.weight_names)
        restored = self.game.family.restored

        def value(ctx: Context, raw: Any) -> int:
            s = restored(raw)
            more = (weights(ctx),) if self.takes == 3 else ()
            return round(UNIT * float(evaluate(ctx, s, *more)))

        if INTERPRETED:
            return value
        key = id(self)
        _plain_values[key] = value

        def entry(ctx: Context, s: State) -> Any:
            with numba.objmode(score="int64"):
                score = plain_value(key, ctx, s)
            return score  # noqa: RET504  # Numba forbids leaving the block by return

        make: Any = numba.njit(error_model="numpy")
        return make(entry)


NOT_COMPILED = "cannot be compiled (compile = false runs it in Python, some twenty times slower):"


def plain_value(key: int, ctx: Context, s: Any) -> int:
    """The value by the Python function registered under `key`."""
    return _plain_values[key](ctx, s)


def weight_reader(names: tuple[str, ...]) -> Any:
    """A compiled function that reads the weights from the context as a named tuple."""
    make: Any = namedtuple  # its fields are the user's, unknown to type checkers
    tuple_class = make("Weights", names)
    reads = ", ".join(f"ctx[{WEIGHTS + place}] / {UNIT}.0" for place in range(len(names)))
    scope: dict[str, Any] = {"Weights": tuple_class}
    exec(f"def weights(ctx):\n    return Weights({reads})", scope)
    return inlined(scope["weights"])


def ours(value: Any) -> bool:
    """Whether a global of the user's file is one of the feature names that we bind."""
    plain = getattr(value, "py_func", value)
    return isinstance(plain, FunctionType) and plain.__module__.split(".")[0] in ("agents", "games")


def bound_copy(function: FunctionType, names: Mapping[str, Any], done: dict[int, Any]) -> Any:
    """A compiled copy with our names bound; the user's own helpers are copied along."""
    if id(function) in done:
        return done[id(function)]
    scope = dict(function.__globals__)
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    done[id(function)] = made = inlined(copy)
    for name in function.__code__.co_names:
        value = scope.get(name)
        if ours(value):
            scope[name] = names.get(getattr(value, "__name__", name), value)
        elif isinstance(value, FunctionType):
            scope[name] = bound_copy(value, names, done)
    return made


def plain_copy(function: FunctionType, names: Mapping[str, Any]) -> Any:
    """A Python copy with our names bound; the user's own helpers stay as they are."""
    scope = dict(function.__globals__)
    for name, value in list(scope.items()):
        if ours(value):
            scope[name] = names.get(getattr(value, "__name__", name), value)
        elif isinstance(value, FunctionType):
            scope[name] = FunctionType(
                value.__code__, scope, value.__name__, value.__defaults__, value.__closure__
            )
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__)


def compile_error(error: NumbaError, path: Path) -> str:
    """Numba's complaint cut to what a user can act on: the reason and the place in his file."""
    text = str(error)
    place = ""
    for line in text.splitlines():
        if str(path) in line or path.name in line:
            place = line.strip()
    reasons = [line.strip() for line in text.splitlines() if line.strip()]
    noise = ("Failed in", "During:", "File ", "The above exception", "Enable logger")
    told = [line for line in reasons if not line.startswith(noise) and "^" not in line]
    return "\n".join(filter(None, [place, *told[:12]]))
