"""Compile a user's functions as a state family."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
from numba.core.errors import NumbaError

from games.base.text import GameError
from games.core import thread_safe_cache
from games.kernels import bits, masks, quad
from games.kernels.bits import Truth, U
from games.kernels.context import Context, context
from games.kernels.family import Mask, State
from games.kernels.jit import INTERPRETED, Kernel, Scope, inline, short_compile_error
from games.kernels.quad import Quad
from games.user_games.load import (
    MOST_RULES,
    copy_function,
    describe_error,
    inner_code,
    own_functions,
)

Functions = Mapping[str, Kernel]

MASKS = ("plies", "none", "lowest", "rest", "nth", "highest", "except_highest", "count")

MOVE_ORDERING = ("gain", "remaining")  # a file that defines these has move ordering
NUMBERS = ("SORTED_FROM", "FINISH_FROM", "TIES_BY_SIDE")


def build_family(module: ModuleType, rules: Sequence[int]) -> str:
    """Return the module name of the compiled family, which is made once."""
    return _make_family(module, mask_functions(module, rules)).__name__


def mask_functions(module: ModuleType, rules: Sequence[int]) -> ModuleType:
    """Return the mask functions: for one word, or for four if `moves` returns a Quad."""
    own = plain_functions(module)
    with suppress(Exception):  # validation reports the exception
        if isinstance(own["moves"](rules, to_words(module.State, own["start"](rules))), Quad):
            return quad
    return masks


@thread_safe_cache
def _make_family(module: ModuleType, masks: ModuleType) -> ModuleType:
    own = compile_functions(module)
    made, state = new_submodule(module, "family"), module.State
    vars(made).update(family_functions(own, state, masks))
    vars(made).update(
        FAMILY=module.__name__,
        make_context=lambda rules: context(rules, []),
        slots=plain_functions(module)["slots"],
        start=lambda rules: to_words(state, plain_functions(module)["start"](rules)),
        from_words=lambda raw: to_words(state, raw),
    )
    make_parts(module, own)
    return made


def new_submodule(module: ModuleType, role: str) -> ModuleType:
    """Return an empty submodule of the user's module, ready to be imported."""
    name = f"{module.__name__}.{role}"
    sys.modules[name] = module_from_spec(ModuleSpec(name, None))
    return sys.modules[name]


def compile_functions(module: ModuleType) -> Scope:
    """Compile every function of the file, callees first."""
    plain = own_functions(module)
    made: Scope = {
        name: inline(value)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and name not in plain  # imported functions
    }

    def compile_with_callees(name: str, callers: tuple[str, ...] = ()) -> None:
        for callee in (n for code in inner_code(plain[name].__code__) for n in code.co_names):
            if callee in plain and callee not in (*made, *callers, name):
                compile_with_callees(callee, (*callers, name))
        function = copy_function(plain[name], vars(module) | made)
        made[name] = interpret_with_ints(function) if INTERPRETED else inline(function)

    for name in plain:
        if name not in made:
            compile_with_callees(name)
    return made


def interpret_with_ints(function: Kernel) -> Kernel:
    """Return the function with rules as Python integers, to run it interpreted.

    NumPy integers and words can be mixed only in compiled code.
    """

    def called(*arguments: object) -> object:
        return function(*(a[:MOST_RULES].tolist() if isinstance(a, np.ndarray) else a
                          for a in arguments))  # fmt: skip

    return called


def plain_functions(module: ModuleType) -> Scope:
    """Return every function of the file for plain Python, with Python twins of our intrinsics."""
    scope = {name: _plain(value) for name, value in vars(module).items()}
    for name, function in own_functions(module).items():
        scope[name] = copy_function(function, scope)
    return {name: scope[name] for name in own_functions(module)}


def _plain(value: object) -> object:
    for compiled, twin in bits.PYTHON_TWINS:
        if value is compiled:
            return twin
    if not hasattr(value, "py_func") or not callable(value):
        return value

    def words(*arguments: object) -> object:
        answer = value(*arguments)
        if isinstance(answer, Quad):
            return Quad(*map(U, answer))
        return U(answer) if type(answer) is int else answer

    return words


def family_functions(own: Functions, state: type[State], masks: ModuleType) -> Scope:
    """Return the functions of a family; any integers become the words that kernels expect."""
    as_words = state_to_words(state)
    as_mask = state_to_words(Quad) if masks is quad else word
    own_moves, own_play, own_turned, own_key = (
        own[name] for name in ("moves", "play", "turned", "key")
    )
    own_over, own_final = own.get("over", always_over), own.get("final", loss_for_mover)

    def moves(ctx: Context, s: State) -> Mask:
        return as_mask(own_moves(ctx, s))

    def over(ctx: Context, s: State) -> Truth:
        return bool(own_over(ctx, s))

    def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
        child, same = own_play(ctx, s, slot)
        return as_words(child), bool(same)

    def turned(s: State) -> State:
        return as_words(own_turned(s))

    def key(s: State) -> np.uint64:
        return U(own_key(s))

    def final(ctx: Context, s: State) -> np.int64:
        return np.int64(own_final(ctx, s))

    functions: Scope = {f.__name__: inline(f) for f in (moves, over, play, turned, key, final)}
    return functions | {name: getattr(masks, name) for name in MASKS} | {"State": state}


def to_words(state: type[State], raw: State) -> State:
    """Return the state with all its numbers converted to words."""
    return state(*(U(int(word)) for word in raw))


def state_to_words(state: type[State]) -> Kernel:
    """Generate a kernel that turns every number of a state into a word."""
    words = ", ".join(f"U(s[{place}])" for place in range(len(state._fields)))
    scope = {"State": state, "U": U}
    exec(f"def as_words(s):\n    return State({words})", scope)
    return inline(scope["as_words"])


@inline
def word(number: int) -> np.uint64:
    """Return a number as a word."""
    return U(number)


@inline
def always_over(ctx: Context, s: State) -> bool:
    """Return True: in games without passes, a position without moves ends the game."""
    return True


@inline
def loss_for_mover(ctx: Context, s: State) -> np.int64:
    """Return -1: a player without a move has lost."""
    return np.int64(-1)


def make_parts(module: ModuleType, own: Functions) -> None:
    """Make submodules for the optional parts that the file defines."""
    names = getattr(module, "FEATURES", None)
    if names is not None:
        features = new_submodule(module, "features")
        vars(features).update({name: feature_function(own, name, module) for name in names})
        features.TERM = getattr(module, "TERM", "difference")  # type: ignore[attr-defined]
        if "progress" in own:
            vars(features)["progress"] = wrap_function(own["progress"], "progress", 3)
    if "hole_beans" in own:
        vars(new_submodule(module, "hole_beans"))["hole_beans"] = wrap_function(
            own["hole_beans"], "hole_beans", 3
        )
    if all(name in own for name in MOVE_ORDERING):
        ordering = new_submodule(module, "move_ordering")
        places = {"gain": 4, "remaining": 2, "urgency": 4, "promising": 3, "others": 2}
        vars(ordering).update({n: wrap_function(own[n], n, places[n]) for n in places if n in own})
        vars(ordering).update({n: getattr(module, n) for n in NUMBERS if hasattr(module, n)})


def feature_function(own: Functions, name: str, module: ModuleType) -> Kernel:
    """Return a feature of the file; raise a GameError if it is not one of its functions."""
    if name not in own or name in ("moves", "over", "play", "turned", "key", "final", "count"):
        raise GameError(
            f"{module.__file__}: FEATURES names {name!r}, which is not a feature function: "
            f"define {name}(rules, s)"
        )
    return wrap_function(own[name], name, 2)


def wrap_function(function: Kernel, name: str, places: int) -> Kernel:
    """Return a Python function that calls the compiled one: kernel templates must be Python."""
    arguments, where = ", ".join("abcd"[:places]), f"{function.__module__}.own_{name}"
    holder = module_from_spec(ModuleSpec(where, None))  # Numba's cache imports it by name
    vars(holder)[f"own_{name}"] = function
    exec(f"def {name}({arguments}):\n    return own_{name}({arguments})", vars(holder))
    sys.modules[where] = holder
    made: FunctionType = getattr(holder, name)
    return made


def describe_compile_error(error: Exception, path: Path) -> str:
    """Return in one line why Numba cannot compile the file."""
    if not isinstance(error, NumbaError):
        return describe_error(error, path)
    lines = short_compile_error(error, path).splitlines()
    return f"it cannot be compiled: {'; '.join(lines[:3])}"
